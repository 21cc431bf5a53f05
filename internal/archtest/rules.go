package archtest

// module is this repository's module path.
const module = "interlock"

// everything stands for all rooms but cmd.
const everything = "*"

// room is a line of the import table: the room may import the rooms in may, whatever these may import, and the
// standard library. A name that ends in "/*" stands for every room below; an exact line wins over such a one.
type room struct {
	name string
	may  []string
	why  string
}

// rooms is the import table. A room without a line is a finding: a new room starts with its line here.
var rooms = []room{
	{"units", nil, "quantities are what every room shares, so they may depend on none"},
	{"reject", []string{"units"}, "a refusal is data that every room can make"},
	{"reject/gen", nil, "it only turns codes.yaml into Go"},
	{"arm", []string{"units", "reject"}, "kinematics are numbers in, numbers out"},
	{"world", []string{"units", "reject"}, "what is known must not depend on who measured or who asks"},
	{"internal/strictjson", []string{"reject"}, "text becomes JSON in one place, which knows nothing of robots"},
	{"internal/peer", nil, "who is at the other end of a socket is asked of the system in one place"},
	{"internal/archtest", nil, "the rules read source text and must not depend on what they judge"},
	{"internal/sabotage", nil, "it rewrites sources into an overlay and runs the go command; it must not depend on what it sabotages"},
	{"internal/golden", nil, "it only compares files, for tests"},
	{"contract/v1", nil, "the messages are the only thing both sides share; they bring nothing of either"},
	{"contract/v1/gen", nil, "it only turns the .proto files into Go"},
	{"contract/v1/contractv1connect", []string{"contract/v1"}, "generated stubs carry messages over HTTP and know nothing else"},
	{"contract/rule", []string{"world"}, "conditions are evaluated over facts; kinematics are bound late, so they need no arm"},
	{"contract", []string{"contract/rule", "contract/v1", "world", "internal/strictjson"}, "the contract file becomes conditions, schemas and a manifest; it is the one door to contract/rule"},

	{"robot/gate", []string{"contract"}, "the gate decides from call, contract and world; kinematics and planner are handed in"},
	{"robot/goal", []string{"contract"}, "a goal is a condition over measured facts"},
	{"robot/verify", []string{"contract"}, "measuring reads facts, never the command, the plan or the model's text"},
	{"robot/mission", []string{"units", "reject"}, "the machine is data in, data out; the capability's policy arrives as plain data"},
	{"robot/skill", []string{"robot/gate", "arm", "body"}, "a setpoint comes only from what the gate cleared; a skill never grades itself"},
	{"robot/audit", []string{"contract/v1", "internal/strictjson"}, "the record holds messages; it takes no part in deciding"},
	{"robot/operator", []string{"contract/v1", "contract/v1/contractv1connect", "reject", "internal/peer"}, "the person's listener speaks messages, like any other"},
	{"robot", []string{
		"units", "reject", "arm", "world", "internal/strictjson", "contract", "contract/v1", "body", "transport",
		"robot/gate", "robot/goal", "robot/verify", "robot/mission", "robot/skill", "robot/audit", "robot/operator",
	}, "the shell joins the trusted rooms; drivers and transports are handed in by cmd or eval/lab"},

	{"body", []string{"units", "reject"}, "a driver knows joints and readings, no verbs and no tasks"},
	{"body/*", []string{"body", "arm", "world"}, "drivers stand alone: siblings never import each other, and none knows the robot above it"},
	{"body/remote", []string{"body", "body/remote/v1", "internal/peer"}, "the driver protocol carries messages to a driver of any kind; it is a protocol of its own, without the brain's"},
	{"body/remote/v1", nil, "the driver protocol's messages bring nothing of either side"},
	{"body/remote/gen", nil, "it only turns driver.proto into Go"},
	{"body/plant", []string{"body/sim", "body/remote"}, "the simulator as a process: the one place where a simulated world meets a line"},

	{"transport", []string{"contract/v1", "internal/strictjson"}, "the line carries messages and decides nothing"},
	{"transport/*", []string{"transport"}, "transports stand alone: siblings never import each other"},
	{"transport/connect", []string{"transport", "contract/v1/contractv1connect", "internal/peer"}, "transports stand alone: siblings never import each other; the stubs are its own"},
	{"transport/transporttest", []string{
		"transport", "robot", "body", "body/guard", "body/sim", "robots",
	}, "the suite holds a line against a whole robot on the simulator; only tests import it, and it imports no transport"},
	{"mcp", []string{"contract/v1", "transport", "reject", "internal/strictjson"}, "an MCP client is one more brain: it reaches the robot through a transport only"},

	{"brain/action", []string{"reject", "internal/strictjson"}, "raw text is read without knowing any robot"},
	{"brain/llm", nil, "a provider carries bytes to a model and back"},
	{"brain/llm/*", []string{"brain/llm"}, "providers stand alone: siblings never import each other"},
	{"brain/tool", []string{"contract/v1", "transport", "reject", "internal/strictjson"}, "tools are made from messages, the only thing both sides share"},
	{"brain/agent", []string{"brain/action", "brain/llm", "brain/tool"}, "the brain is untrusted: it reaches the robot through a transport only"},

	{"eval/judge", []string{"units", "body"}, "an independent oracle shares nothing with the robot's verifier but units; of body it takes Truth only"},
	{"eval", []string{"brain/agent", "transport", "contract/v1", "eval/judge", "internal/strictjson"}, "runs and statistics see what a brain sees, and the judge; worlds are built in eval/lab"},
	{"bench", []string{
		"units", "reject", "arm", "world", "contract", "brain/action", "robot/gate", "robot/skill", "robot/verify", "robots",
	}, "what is timed is the reader, the gate and the watch themselves; nothing imports them joined but cmd"},
	{"examples/*", []string{"transport/connect", "transport/leasing", "contract/v1"}, "an example of a client is a brain's side of the line, and shows what a client needs"},
	{"robots", nil, "contract files are data; the package only carries them inside the binary"},
	{"suites", nil, "suite files are data; the package only carries them inside the binary"},
	{"eval/lab", []string{everything}, "the lab builds whole worlds, gate OFF included"},
	{"cmd/*", []string{everything}, "commands wire everything together, in explicit lists"},
}

// bound are the rooms whose tests keep the import table too, not only their code.
var bound = []string{"brain", "brain/*", "eval/judge"}

// boundTestsMay is what the tests of bound rooms may import besides: comparing files is no way to a robot, and the
// providers are what an agent is tested with and their suite is what a provider is tested by.
var boundTestsMay = map[string][]string{
	"brain/*":    {"internal/golden", "brain/llm/*"},
	"eval/judge": {"internal/golden"},
}

// dependency is a line of the table of third-party code: which rooms may import packages below path. The longest
// matching path decides. Rooms are written as in the import table.
type dependency struct {
	path  string
	rooms []string
	why   string
}

// dependencies lists all third-party code that may be used at all.
var dependencies = []dependency{
	{"cel.dev/cel-go", []string{"contract/rule"}, "conditions have one home; every other room sees a compiled Condition"},
	{"github.com/goccy/go-yaml", []string{"contract", "eval"}, "the contract file and the suite files are the only YAML"},
	{"github.com/go-json-experiment/json", []string{"internal/strictjson"}, "JSON is read strictly in one place"},
	{"github.com/bufbuild/protocompile", []string{"contract/v1/gen", "body/remote/gen"}, "it compiles the .proto files and nothing else"},
	{"connectrpc.com/connect", []string{"transport/connect", "contract/v1/contractv1connect", "body/remote", "body/remote/v1", "robot/operator"}, "HTTP is one line among others: only its room and its generated stubs know it; the driver protocol and the person's listener are HTTP"},
	{"connectrpc.com/grpcreflect", []string{"transport/connect"}, "server reflection belongs to the room that serves"},
	{"google.golang.org/protobuf", []string{"contract/v1", "contract/v1/gen", "transport/*", "body/remote", "body/remote/v1", "body/remote/gen", "robot/audit", "robot/operator"}, "only the messages, the lines and the record know how protobuf works"},
	{"google.golang.org/protobuf/proto", []string{
		"body/remote", "body/remote/gen", "contract", "contract/v1", "contract/v1/gen", "robot", "robot/audit", "transport/*", "brain/tool", "brain/agent", "eval", "eval/lab", "mcp", "cmd/*",
	}, "whoever passes messages may copy, compare and hash them; a room that only decides has no messages"},
	{"github.com/spf13/cobra", []string{"cmd/*"}, "command lines end at cmd"},
	{"github.com/jedib0t/go-pretty/v6", []string{"cmd/*", "eval"}, "tables and progress are for people, at the edge"},
	{"golang.org/x/term", []string{"cmd/*"}, "line editing and raw mode belong to the terminal, at the edge"},
	{"gonum.org/v1/gonum", []string{"eval"}, "statistics belong to the evaluation"},
	{"gonum.org/v1/plot", []string{"eval"}, "plots belong to reports"},
	{"C", nil, "the default build is pure Go: CGO_ENABLED=0 builds and passes"},
}

// testDependencies are what any test may use besides the room's own.
var testDependencies = []string{
	"pgregory.net/rapid", "go.uber.org/goleak", "github.com/google/go-cmp", "github.com/rogpeppe/go-internal/testscript",
	"github.com/santhosh-tekuri/jsonschema/v6", "google.golang.org/protobuf/proto",
}

// pure are the rooms that take time from their arguments: no clock, no sleep, no goroutine, no I/O, no randomness.
var pure = []string{"units", "reject", "world", "arm", "contract", "contract/rule", "robot/gate", "robot/goal", "robot/mission", "robot/verify"}

// pureWhy is the reason beside every rule about them.
const pureWhy = "a pure room takes time and readings from its arguments, so that each of its decisions can be replayed as data"

// pureImports are the standard packages a pure room may not import; "x/*" stands for all below x.
var pureImports = []string{
	"os", "os/*", "net", "net/*", "io/ioutil", "syscall", "log", "log/*", "math/rand", "math/rand/*", "crypto/rand",
	"testing", "testing/*", "runtime/*", "plugin",
}

// pureCalls are the names a pure room may not use, by import path.
var pureCalls = map[string][]string{
	"time": {"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"},
	"fmt":  {"Print", "Printf", "Println", "Scan", "Scanf", "Scanln"},
}

// grant lets one function of a pure room use one name.
type grant struct{ room, function, path, name, why string }

var grants = []grant{
	{"contract", "LoadFile", "os", "ReadFile", "reading the contract file is the one act of I/O in a pure room"},
}

// guarded is a name that only some rooms may use at all.
type guarded struct {
	room, name string
	users      []string // besides the room itself
	testsToo   bool     // whether tests of other rooms are bound as well
	why        string
}

var guardedNames = []guarded{
	{"robot/gate", "Off", []string{"eval/lab"}, true, "a gate without checks exists only where simulated worlds are built"},
	{"body", "Truth", []string{"body/*", "eval/judge", "eval", "eval/lab", "cmd/*"}, false, "the robot verifies by sensors; truth is for the judge"},
	{"body", "TrueObject", []string{"body/*", "eval/judge", "eval", "eval/lab", "cmd/*"}, false, "the robot verifies by sensors; truth is for the judge"},
}

// Sizes in lines, comments and blanks included. Generated files are not counted.
const (
	maxFunction = 70
	maxFile     = 500
	maxTestFile = 800
	sizeWhy     = "what does not fit on a page or two cannot be reviewed for safety: split it by the one thing each part does"
)

// budget bounds the code of some rooms together, tests apart.
type budget struct {
	name  string
	rooms []string
	lines int
	why   string
}

var budgets = []budget{
	{"the pure core", []string{"units", "reject", "world", "robot/gate", "robot/goal", "robot/mission", "robot/verify"}, 4000, "what decides about motion must stay small enough to be read whole"},
	{"contract", []string{"contract"}, 2500, "the contract's file form must stay small enough to be read whole"},
	{"contract/rule", []string{"contract/rule"}, 2500, "what evaluates conditions must stay small enough to be read whole"},
}

// forbiddenText are strings that no text file may hold. They are written in two halves so that this file holds none.
var forbiddenText = []struct{ text, why string }{
	{"/wo" + "rk/", machineWhy}, {"/ho" + "me/", machineWhy}, {"/ro" + "ot/", machineWhy}, {"/Us" + "ers/", machineWhy}, {"/tm" + "p/", machineWhy},
	{"proxy.gol" + "ang.org", hostWhy}, {"sum.gol" + "ang.org", hostWhy}, {"pypi" + ".org", hostWhy}, {"registry.npm" + "js.org", hostWhy},
	{"docker" + ".io", hostWhy}, {"ghcr" + ".io", hostWhy}, {"crates" + ".io", hostWhy},
}

const (
	machineWhy = "a path of one machine means nothing on the next"
	hostWhy    = "where packages come from is the builder's setting, not the repository's"
)
