import assert from "node:assert/strict";
import test from "node:test";

import { Parser } from "../dist/sse.js";

const bytes = (text) => new TextEncoder().encode(text);

const stream =
  "\ufeffretry: 2000\r\nid: e-1\nevent: hello\ndata: {\"a\":1}\n\n" +
  ": a comment\n\n" +
  "id: e-2\r\nevent: report.published\r\ndata: primera línea 📈\r\ndata:segunda\r\n\r\n" +
  "data: without a name\r\r" +
  "unknown: x\ndata\n\n" +
  "event: empty\n\n" +
  "id: e-3\ndata: cut off\n";

const expected = [
  { id: "e-1", event: "hello", data: '{"a":1}' },
  { id: "e-2", event: "report.published", data: "primera línea 📈\nsegunda" },
  { id: "e-2", event: "message", data: "without a name" },
  { id: "e-2", event: "message", data: "" },
];

test("events do not depend on where the stream is divided", () => {
  const whole = bytes(stream);
  for (let first = 0; first <= whole.length; first++) {
    for (let second = first; second <= whole.length; second += 7) {
      const parser = new Parser();
      const pieces = [whole.subarray(0, first), whole.subarray(first, second), whole.subarray(second)];
      assert.deepEqual(pieces.flatMap((piece) => parser.push(piece)), expected, `divided at ${first} and ${second}`);
      assert.equal(parser.retry, 2000);
    }
  }
});

test("events do not depend on pieces of one byte", () => {
  const parser = new Parser();
  const messages = [...bytes(stream)].flatMap((byte) => parser.push(Uint8Array.of(byte)));
  assert.deepEqual(messages, expected);
});

test("a line and an event without an end are refused", () => {
  const piece = bytes("x".repeat(1 << 20));
  assert.throws(() => {
    const parser = new Parser();
    for (let i = 0; i < 5; i++) {
      parser.push(piece);
    }
  }, /more than/);
  assert.throws(() => {
    const parser = new Parser();
    for (let i = 0; i < 5; i++) {
      parser.push(bytes("data: "));
      parser.push(piece);
      parser.push(bytes("\n"));
    }
  }, /more than/);
  assert.throws(() => {
    const parser = new Parser();
    const piece = bytes("data:\n".repeat(1 << 20));
    for (let i = 0; i < 5; i++) {
      parser.push(piece);
    }
  }, /more than/);
});
