package peer

import (
	"net"
	"syscall"
)

// Known says that the system tells who is at the other end of a socket: then nobody unknown need be heard.
const Known = true

// UserOf returns the user id of the process at the other end, as it was when it connected.
func UserOf(c *net.UnixConn) (uid uint32, known bool) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, false
	}
	var cred *syscall.Ucred
	if controlErr := raw.Control(func(fd uintptr) {
		cred, err = syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	}); controlErr != nil || err != nil {
		return 0, false
	}
	return cred.Uid, true
}
