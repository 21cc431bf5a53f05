package operator_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	contractv1 "interlock/contract/v1"
	"interlock/transport"
	"interlock/transport/connect"
)

// agentsLine is the line that agents have to a robot: every protocol, with the right token.
func agentsLine(t *testing.T) (base string, client *http.Client) {
	t.Helper()
	o := connect.Options{Token: "0123456789abcdef0123456789abcdef"}
	l, err := connect.Listen(t.Context(), "127.0.0.1:0", o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	var robot struct{ transport.Server } // nothing that is sent here may reach it
	go func() { ended <- connect.Serve(ctx, l, robot, o) }()
	var p http.Protocols
	p.SetUnencryptedHTTP2(true)
	line := &http.Transport{Protocols: &p, DialContext: new(net.Dialer).DialContext}
	t.Cleanup(func() {
		line.CloseIdleConnections()
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return "http://" + l.Addr().String(), &http.Client{Transport: line}
}

func ofAgent(t *testing.T, client *http.Client, url, contentType string, body []byte) (status int, grpc string, answer []byte) {
	t.Helper()
	q, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	q.Header.Set("Content-Type", contentType)
	q.Header.Set("Authorization", "Bearer 0123456789abcdef0123456789abcdef")
	q.Header.Set("Te", "trailers")
	r, err := client.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	answer, err = io.ReadAll(r.Body)
	if err := errors.Join(err, r.Body.Close()); err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, r.Header.Get("Grpc-Status") + r.Trailer.Get("Grpc-Status"), answer
}

func enveloped(message []byte) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(message))), message...)
}

// No method of a person's is on the line of agents, in no protocol and under no name, and the robot's reflection does not
// tell of them: an approval that an agent sends is a call of nothing.
//
// Verifies: O19, P34
func TestNoAgentReachesThePersonsMethods(t *testing.T) {
	base, client := agentsLine(t)
	services := contractv1.File_operator_service_proto.Services()
	good, err := proto.Marshal(&contractv1.ApproveRequest{Hash: strings.Repeat("a", 64), Displayed: "x", By: "ada"})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for i := range services.Len() {
		methods := services.Get(i).Methods()
		for j := range methods.Len() {
			n++
			m := methods.Get(j)
			for _, service := range []protoreflect.FullName{services.Get(i).FullName(), "interlock.v1.Robot", "interlock.driver.v1.Operator"} {
				url := base + "/" + string(service) + "/" + string(m.Name())
				for kind, body := range map[string][]byte{"application/proto": good, "application/json": []byte(`{"by":"ada"}`)} {
					if status, _, answer := ofAgent(t, client, url, kind, body); status != http.StatusNotFound {
						t.Errorf("%s as %s: %d %s", url, kind, status, answer)
					}
				}
				for _, kind := range []string{"application/grpc", "application/grpc-web+proto", "application/connect+proto"} {
					status, grpc, answer := ofAgent(t, client, url, kind, enveloped(good))
					if status == http.StatusOK && (grpc == "" || grpc == "0") {
						t.Errorf("%s as %s: %d %q", url, kind, status, answer)
					}
				}
			}
		}
	}
	if n != 6 {
		t.Errorf("a person has %d methods", n)
	}
	for _, version := range []string{"v1", "v1alpha"} {
		list := enveloped([]byte{0x3a, 0x01, '*'}) // list_services = "*"
		_, grpc, answer := ofAgent(t, client, base+"/grpc.reflection."+version+".ServerReflection/ServerReflectionInfo", "application/grpc", list)
		if grpc != "0" || !bytes.Contains(answer, []byte("interlock.v1.Robot")) || bytes.Contains(answer, []byte("Operator")) {
			t.Errorf("reflection %s tells %q, status %s", version, answer, grpc)
		}
	}
	// What agents may name is the robot's service alone: none of its methods approves, takes or resolves.
	robot := contractv1.File_robot_service_proto.Services()
	for i := range robot.Len() {
		for j := range robot.Get(i).Methods().Len() {
			m := robot.Get(i).Methods().Get(j)
			for _, word := range []string{"approv", "deny", "operator", "take", "giveback", "resolve", "pending"} {
				if strings.Contains(strings.ToLower(string(m.FullName())), word) || strings.Contains(strings.ToLower(string(m.Input().FullName())), word) {
					t.Errorf("agents have the method %s", m.FullName())
				}
			}
		}
	}
}
