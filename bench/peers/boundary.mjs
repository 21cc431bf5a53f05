// The three texts of boundary.py by Node's own JSON and ajv, its schema compiled once. A call is shorter than the clock
// can tell, so a hundred are timed together.
import { createRequire } from "node:module";
import fs from "node:fs";
const require = createRequire(process.env.PEERS_NODE + "/");
const Ajv = require("ajv/dist/2020").default, version = require("ajv/package.json").version;
const number = { type: "number", minimum: -60, maximum: 60 };
const check = new Ajv({ allErrors: true }).compile({
  type: "object", required: ["tool", "arguments"], additionalProperties: false,
  properties: { tool: { const: "move_to" }, arguments: {
    type: "object", required: ["x_cm", "y_cm", "z_cm"], additionalProperties: false,
    properties: { x_cm: number, y_cm: number, z_cm: number, speed: { enum: ["slow", "normal"] } } } },
});
const valid = '{"tool": "move_to", "arguments": {"x_cm": 20.5, "y_cm": 5, "z_cm": 15, "speed": "slow"}}';
const texts = { valid, "wrong type": valid.replace("20.5", '"20.5"'), cut: "```json\n" + valid.slice(0, valid.indexOf("15,") + 1) };
let words = 0;
function verdict(text) {
  try {
    if (check(JSON.parse(text))) return "cleared";
    words += check.errors.length;
  } catch (e) {
    words += e.message.length;
  }
  return "refused";
}
const batch = 100, n = 1000;
for (const [work, text] of Object.entries(texts)) {
  const us = [];
  for (let i = -100; i < n; i++) {
    const start = process.hrtime.bigint();
    for (let k = 0; k < batch; k++) verdict(text);
    if (i >= 0) us.push(Number(process.hrtime.bigint() - start) / 1000 / batch);
  }
  us.sort((a, b) => a - b);
  fs.appendFileSync(process.env.PEERS_OUT, JSON.stringify({
    part: "shape", peer: "Node JSON.parse + ajv", version, work, answer: verdict(text), n: n * batch,
    min_us: us[0], median_us: us[n / 2], p99_us: us[n * 0.99], max_us: us[n - 1], mean_us: us.reduce((a, b) => a + b) / n,
  }) + "\n");
}
