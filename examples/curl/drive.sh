#!/usr/bin/env bash
# Drives a robot with curl: every call is a POST with a JSON body. Byte strings are base64, 64-bit numbers are strings.
#
#   interlock robot robots/so101-tabletop.yaml &
#   examples/curl/drive.sh ADDRESS TOKEN_FILE
#
# `interlock robot` prints address and token file. Needs curl and jq. Exits with 0 if what was asked for was measured, 3 if
# the call was refused, 4 otherwise. It takes no lease: the robot holds the arm for the mission, which goes on if this ends.
set -euo pipefail
address=$1 token_file=$2

# call METHOD JSON prints the reply; an error of the line (its refusals are in .details[].debug) ends the script.
call() {
	curl -sS --fail-with-body "http://$address/interlock.v1.Robot/$1" -H 'Content-Type: application/json' \
		-H @<(printf 'Authorization: Bearer %s' "$(<"$token_file")") --data-binary "$2"
}

# events MISSION prints the events so far and those to come. A stream frames each message with five bytes: a flag, here 0,
# and the length. The last frame, with flag 2, ends the stream.
events() {
	local ask="{\"missionId\": \"$1\", \"fromSeq\": \"1\"}"
	{ printf '\0\0\0\0%b' "\\x$(printf %02x ${#ask})"; printf %s "$ask"; } |
		curl -sSN "http://$address/interlock.v1.Robot/Events" -H 'Content-Type: application/connect+json' \
			-H @<(printf 'Authorization: Bearer %s' "$(<"$token_file")") --data-binary @- |
		python3 -c '
import struct, sys
while len(head := sys.stdin.buffer.read(5)) == 5:
    flag, size = struct.unpack(">BI", head)
    text = sys.stdin.buffer.read(size).decode()
    if flag == 0:
        print(text, flush=True)
    elif "error" in text:
        sys.exit(text)'
}

call Describe '{}' | jq -r '.robot + " offers " + ([.capabilities[].name] | join(", "))'

# The goal is fixed before the first call, and decides.
task=$(call OpenTask '{"words": "move to 20, 5, 15", "provenance": "person", "goal": "at(point_cm(20.0, 5.0, 15.0))"}' | jq -r .taskId)

# The mission's id is the caller's: the same id and arguments again are the same mission.
mission=curl-$(date +%s%N)
arguments=$(printf '{"x_cm": 20, "y_cm": 5, "z_cm": 15}' | base64 | tr -d '\n')
ack=$(call Start "{\"missionId\": \"$mission\", \"capability\": \"move_to\", \"argsJson\": \"$arguments\", \"taskId\": \"$task\"}")
if [[ $(jq .accepted <<<"$ack") != true ]]; then
	jq -c '.rejections[] | {code, rule, field, got, limit}' <<<"$ack"
	exit 3
fi
events "$mission" | jq -r '"\(.seq) \(.kind) \(.phase // "")"'

# A claim is written beside what was measured, and changes nothing of it.
state=$(call Claim "{\"taskId\": \"$task\", \"claim\": {\"reported\": true, \"success\": true, \"message\": \"I moved there.\"}}" | jq -r .state)
echo "claimed: done; measured: $state"
[[ $state == DONE ]] || exit 4
