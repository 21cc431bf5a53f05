"""One model action read and its shape checked, by what is used for it in Python. Each peer gets the same three texts:
a valid call, a number written as a string, and a fenced call cut inside a number."""
import json
from importlib.metadata import version
from typing import Annotated, Literal

import jsonschema
import msgspec
import pydantic

from so101 import emit, timed

NUMBER = {"type": "number", "minimum": -60, "maximum": 60}
SCHEMA = {
    "$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object", "required": ["tool", "arguments"], "additionalProperties": False,
    "properties": {"tool": {"const": "move_to"}, "arguments": {
        "type": "object", "required": ["x_cm", "y_cm", "z_cm"], "additionalProperties": False,
        "properties": {"x_cm": NUMBER, "y_cm": NUMBER, "z_cm": NUMBER, "speed": {"enum": ["slow", "normal"]}}}},
}
VALID = '{"tool": "move_to", "arguments": {"x_cm": 20.5, "y_cm": 5, "z_cm": 15, "speed": "slow"}}'
TEXTS = {"valid": VALID, "wrong type": VALID.replace("20.5", '"20.5"'), "cut": "```json\n" + VALID[:VALID.index("15,") + 1]}


class Arguments(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="forbid", strict=True)
    x_cm: float = pydantic.Field(ge=-60, le=60)
    y_cm: float = pydantic.Field(ge=-60, le=60)
    z_cm: float = pydantic.Field(ge=-60, le=60)
    speed: Literal["slow", "normal"] = "normal"


class Action(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="forbid", strict=True)
    tool: Literal["move_to"]
    arguments: Arguments


Bounded = Annotated[float, msgspec.Meta(ge=-60, le=60)]


class ArgumentsStruct(msgspec.Struct, forbid_unknown_fields=True):
    x_cm: Bounded
    y_cm: Bounded
    z_cm: Bounded
    speed: Literal["slow", "normal"] = "normal"


class ActionStruct(msgspec.Struct, forbid_unknown_fields=True):
    tool: Literal["move_to"]
    arguments: ArgumentsStruct


validator, decoder = jsonschema.Draft202012Validator(SCHEMA), msgspec.json.Decoder(ActionStruct)
PEERS = [
    ("msgspec Decoder", version("msgspec"), 10_000, decoder.decode),
    ("pydantic, strict", version("pydantic"), 10_000, Action.model_validate_json),
    ("json + jsonschema, built once", version("jsonschema"), 2_000, lambda t: validator.validate(json.loads(t))),
    ("json + jsonschema.validate()", version("jsonschema"), 100, lambda t: jsonschema.validate(json.loads(t), SCHEMA)),
]


def verdict(check, call):
    try:
        check(call)
        return "cleared"
    except Exception as e:
        str(e)  # the words go back to the model, so making them belongs to the cost
        return "refused"


for peer, ver, n, check in PEERS:
    for work, call in TEXTS.items():
        emit("shape", peer, ver, work, answer=verdict(check, call), **timed(lambda: verdict(check, call), n))
