import assert from "node:assert/strict";
import { createHash, generateKeyPairSync, sign } from "node:crypto";
import test from "node:test";

import { proofs } from "pregon";

const sha256 = (...parts) => createHash("sha256").update(Buffer.concat(parts)).digest();
const base64 = (bytes) => Buffer.from(bytes).toString("base64");

const origin = "service.example/log";
const { privateKey, publicKey } = generateKeyPairSync("ed25519");
const rawKey = Buffer.concat([Buffer.of(1), publicKey.export({ format: "der", type: "spki" }).subarray(-32)]);
const keyId = sha256(Buffer.from(`${origin}\n`), rawKey).subarray(0, 4);
const vkey = `${origin}+${keyId.toString("hex")}+${base64(rawKey)}`;

const published = (seq) => ({
  id: `oir-${seq}`,
  company_name: "BODEGAS, S.A.",
  ticker: "BOD",
  type: "OIR",
  title: `Título ${seq} & <más>`,
  summary: null,
  published_at: "2026-04-22T12:00:00.123456+02:00",
  cnmv_registration_number: "7",
  pdf_url: null,
  categories: ["Una", "Otra"],
  planet: "Mars",
});

const leafOf = (seq, record = {}) =>
  Buffer.from(
    JSON.stringify({
      seq,
      event: "report.published",
      time: "2026-04-22T10:00:00.000000Z",
      changed: [],
      record: {
        id: `oir-${seq}`,
        company_name: "BODEGAS, S.A.",
        type: "OIR",
        cnmv_registration_number: "7",
        title: `Título ${seq} & <más>`,
        published_at: "2026-04-22T10:00:00.123456789Z",
        category: "Una - Otra",
        ...record,
      },
    }),
  );

const hashLeaf = (leaf) => sha256(Buffer.of(0), leaf);
const hashNode = (left, right) => sha256(Buffer.of(1), left, right);

// The definitions of RFC 6962, sections 2.1 and 2.1.1.
const split = (n) => 2 ** Math.ceil(Math.log2(n) - 1);
const treeHash = (leaves) =>
  leaves.length === 1 ? hashLeaf(leaves[0]) : hashNode(treeHash(leaves.slice(0, split(leaves.length))), treeHash(leaves.slice(split(leaves.length))));

function path(index, leaves) {
  if (leaves.length === 1) {
    return [];
  }
  const k = split(leaves.length);
  const [left, right] = [leaves.slice(0, k), leaves.slice(k)];
  return index < k ? [...path(index, left), treeHash(right)] : [...path(index - k, right), treeHash(left)];
}

function checkpointOf(leaves) {
  const text = `${origin}\n${leaves.length}\n${base64(treeHash(leaves))}\n`;
  const signature = base64(Buffer.concat([keyId, sign(null, Buffer.from(text), privateKey)]));
  return `${text}\n— witness.example/w AAAAAAAA\n— ${origin} ${signature}\n`;
}

function proofOf(index, leaves) {
  return {
    seq: index + 1,
    index,
    tree_size: leaves.length,
    leaf: base64(leaves[index]),
    hashes: path(index, leaves).map(base64),
    checkpoint: checkpointOf(leaves),
  };
}

const leavesOf = (size) => Array.from({ length: size }, (_, i) => leafOf(i + 1));

const refused = (report, proof, kind = "integrity", key = vkey) =>
  assert.rejects(proofs.verify(report, proof, key), { name: "PregonError", kind });

test("every leaf of trees of every shape is verified", async () => {
  for (let size = 1; size <= 20; size++) {
    const leaves = leavesOf(size);
    for (let index = 0; index < size; index++) {
      const verified = await proofs.verify(published(index + 1), proofOf(index, leaves), vkey);
      assert.equal(verified.seq, index + 1);
      assert.equal(verified.treeSize, size);
      assert.equal(verified.origin, origin);
      assert.deepEqual(verified.unchecked, ["planet", "ticker"]);
      assert.equal(verified.checked.join(), "categories,cnmv_registration_number,company_name,id,pdf_url,published_at,summary,title,type");
    }
  }
});

test("a proof with anything else is refused", async () => {
  const leaves = leavesOf(11);
  const proof = proofOf(4, leaves);
  const report = published(5);
  for (let i = 0; i < proof.hashes.length; i++) {
    const hashes = [...proof.hashes];
    hashes[i] = base64(Buffer.alloc(32));
    await refused(report, { ...proof, hashes });
    await refused(report, { ...proof, hashes: proof.hashes.filter((_, j) => j !== i) });
  }
  await refused(report, { ...proof, hashes: [...proof.hashes, proof.hashes[0]] });
  await refused(report, { ...proof, hashes: Array(100).fill(proof.hashes[0]) });
  await refused(report, { ...proof, index: 5 });
  await refused(report, { ...proof, seq: 6, index: 5 });
  await refused(report, { ...proof, seq: 0, index: -1 });
  await refused(report, { ...proof, tree_size: 12 });
  await refused(report, { ...proof, leaf: base64(leafOf(5, { title: "x" })) });
  await refused(report, { ...proof, leaf: "?" });
});

test("a checkpoint that the key did not sign is refused", async () => {
  const leaves = leavesOf(3);
  const proof = proofOf(1, leaves);
  const report = published(2);
  const other = proofOf(1, [...leavesOf(2), leafOf(3, { title: "x" })]);
  const [text, signatures] = proof.checkpoint.split("\n\n");
  await refused(report, { ...proof, checkpoint: `${other.checkpoint.split("\n\n")[0]}\n\n${signatures}` }, "signature");
  await refused(report, { ...proof, checkpoint: `${text}\n\n` }, "signature");
  for (const checkpoint of ["", "x", null, undefined, 5]) {
    await refused(report, { ...proof, checkpoint }, "integrity");
  }
  const strange = `${vkey.replace(origin, "other.example/log")}`;
  await assert.rejects(proofs.verify(report, proof, strange), TypeError);
  await assert.rejects(proofs.verify(report, proof, "x"), TypeError);
  await assert.rejects(proofs.verify(report, proof, "\n"), TypeError);
});

test("of several keys, one a line, one is enough", async () => {
  const another = generateKeyPairSync("ed25519").publicKey.export({ format: "der", type: "spki" }).subarray(-32);
  const raw = Buffer.concat([Buffer.of(1), another]);
  const id = sha256(Buffer.from(`${origin}\n`), raw).subarray(0, 4).toString("hex");
  const other = `${origin}+${id}+${base64(raw)}`;
  const proof = proofOf(0, leavesOf(1));
  await proofs.verify(published(1), proof, `${other}\n${vkey}\n`);
  await refused(published(1), proof, "signature", `${other}\n`);
});

test("a report that differs from the log is refused", async () => {
  const proof = proofOf(1, leavesOf(3));
  const report = published(2);
  for (const change of [
    { id: "oir-1" },
    { title: "Título 2" },
    { summary: "made up" },
    { type: "IP" },
    { published_at: "2026-04-22T12:00:00.123457+02:00" },
    { published_at: "2026-04-22T12:00:00.123456+01:00" },
    { categories: ["Una"] },
    { categories: null },
    { facts: [{ kind: "dividend", fields: {} }] },
    { facts: [{ kind: "dividend", fields: {}, rows: [] }] },
  ]) {
    await refused({ ...report, ...change }, proof);
  }
  await proofs.verify({ ...report, published_at: "2026-04-22T10:00:00.123456Z", facts: null }, proof, vkey);
});

test("a report without a field that every report has is refused", async () => {
  const proof = proofOf(1, leavesOf(3));
  await refused({ id: "oir-2" }, proof);
  for (const name of ["company_name", "ticker", "type", "title", "summary", "published_at", "cnmv_registration_number", "pdf_url"]) {
    const { [name]: _, ...rest } = published(2);
    await refused(rest, proof);
  }
});

/** Returns the proof of a report whose record has further members. */
const proofWith = (record) => proofOf(0, [leafOf(1, record)]);

const unread = { sha256: null, type: null, bytes: null, pages: null, method: null, language: null };

test("a document is compared by its record, and is pending after its link has changed", async () => {
  const read = { sha256: "0a", type: "pdf", bytes: 5, pages: 1, method: "text", language: "es" };
  const ready = { status: "ready", reason: null, ...read };
  const pending = { status: "pending", reason: "It waits.", ...unread };
  const [a, b] = ["https://regulator.example/a", "https://regulator.example/b"];
  const logged = { status: "ready", link: a, ...read };

  const same = proofWith({ pdf_url: a, document: logged });
  await proofs.verify({ ...published(1), pdf_url: a, document: ready }, same, vkey);
  await refused({ ...published(1), pdf_url: a, document: pending }, same);

  for (const document of [logged, { status: "failed", reason: "It is empty.", link: a }]) {
    const moved = proofWith({ pdf_url: b, document });
    const { checked, unchecked } = await proofs.verify({ ...published(1), pdf_url: b, document: pending }, moved, vkey);
    assert.ok(checked.includes("document"));
    assert.ok(unchecked.includes("document.reason"));
    await refused({ ...published(1), pdf_url: b, document: ready }, moved);
    await refused({ ...published(1), pdf_url: b, document: { ...pending, sha256: "0a" } }, moved);
  }
});

test("what a later version adds inside a field is not checked, and breaks nothing", async () => {
  const proof = proofWith({
    evidence: [{ text: "Paga.", page: 1, quote: "paga" }],
    related: [{ id: "oir-9", cnmv_registration_number: "9", published_at: "2026-04-22T10:00:00Z", text: "x" }],
    document: { status: "pending", reason: "It waits." },
  });
  const report = {
    ...published(1),
    evidence: [{ sentence: "Paga.", page: 1, quote: "paga", weather: null }],
    related: [{ id: "oir-9", cnmv_registration_number: "9", published_at: "2026-04-22T10:00:00Z", text: "x", weather: 1 }],
    document: { status: "pending", reason: "It waits.", ...unread, weather: "sun" },
  };
  const { checked, unchecked } = await proofs.verify(report, proof, vkey);
  for (const name of ["evidence", "related", "document"]) {
    assert.ok(checked.includes(name), name);
    assert.ok(unchecked.includes(`${name}.weather`), name);
  }
  await refused({ ...report, evidence: [{ ...report.evidence[0], quote: "no paga" }] }, proof);
  await refused({ ...report, evidence: [...report.evidence, ...report.evidence] }, proof);
  await refused({ ...report, related: [{ weather: 1 }] }, proof);
});

test("facts have exactly the kinds and fields of the log", async () => {
  const proof = proofWith({ facts_rules: 3, facts: [{ kind: "dividend" }] });
  const fact = { kind: "dividend", fields: {} };
  const { checked } = await proofs.verify({ ...published(1), facts: [fact] }, proof, vkey);
  assert.ok(checked.includes("facts"));
  const detailed = { ...published(1), facts: [{ ...fact, rows: [], evidence: [] }] };
  assert.ok((await proofs.verify(detailed, proof, vkey)).unchecked.includes("facts"));
  for (const facts of [[], null, [{ ...fact, headline: "x" }], [{ ...fact, headline: "x", rows: [] }], [fact, fact]]) {
    await refused({ ...published(1), facts }, proof);
  }
});

test("answers and proofs of every shape are refused in the same way", async () => {
  const proof = proofWith({ facts_rules: 3, facts: [{ kind: "dividend" }], evidence: [{ text: "Paga.", page: 1, quote: "paga" }] });
  for (const value of ["x", 5, {}, ["x"], [null], [[]], true]) {
    await refused({ ...published(1), facts: value }, proof);
    await refused({ ...published(1), evidence: value }, proof);
    await refused({ ...published(1), published_at: value }, proof);
    await refused({ ...published(1), pdf_url: value }, proof);
  }
  await refused(null, proof);
  await refused(published(1), null);
  await refused(published(1), { ...proof, leaf: null });
  await refused(published(2), { ...proofOf(1, leavesOf(3)), hashes: [null, 5] });
  for (const record of [{ facts_rules: 3, facts: ["x"] }, { evidence: [null] }, { related: 5 }]) {
    await refused({ ...published(1), facts: [], evidence: [], related: [] }, proofWith(record));
  }
  for (const leaf of ["null", "5", "{", '{"seq":1}', '{"seq":1,"event":"report.published","record":null}']) {
    await refused(published(1), proofOf(0, [Buffer.from(leaf)]));
  }
});

test("a sealed name is compared with its salt", async () => {
  const salt = Buffer.alloc(32, 7);
  const record = {
    id: "dealing-1",
    kind: "dealing",
    state: "current",
    holder_sealed: sha256(salt, Buffer.from("ANA GARCÍA")).toString("hex"),
  };
  const leaf = Buffer.from(JSON.stringify({ seq: 1, event: "position.published", time: "", changed: [], record }));
  const proof = proofOf(0, [leaf]);
  const position = { id: "dealing-1", kind: "dealing", state: "current", person: "ANA GARCÍA", person_erased: false };

  const without = await proofs.verify(position, proof, vkey);
  assert.deepEqual(without.unchecked, ["person", "person_erased"]);
  const salted = { ...proof, salt: base64(salt) };
  assert.deepEqual((await proofs.verify(position, salted, vkey)).unchecked, []);
  await refused({ ...position, person: "ANA GARCIA" }, salted);
  await refused({ ...position, person: null }, salted);
  await refused({ ...position, person_erased: true }, salted);
  const erased = { ...position, person: null, person_erased: true };
  assert.deepEqual((await proofs.verify(erased, proof, vkey)).unchecked, []);
  const { state: _, ...stateless } = erased;
  await refused(stateless, proof);
});

test("trades are compared, but for names that a later version adds", async () => {
  const row = { nature: "Compra", side: "buy", date: "2026-04-22", volume: "1", price: "2", currency: "EUR", page: 1, quote: "x" };
  const record = { id: "dealing-1", kind: "dealing", state: "current", document_status: "ready", trades: [row] };
  const proof = proofOf(0, [Buffer.from(JSON.stringify({ seq: 1, event: "position.published", time: "", changed: [], record }))]);
  const trade = { isin: null, instrument: null, venue: null, ...row };
  const position = { id: "dealing-1", kind: "dealing", state: "current", trades: [{ ...trade, weather: 1 }] };
  assert.deepEqual((await proofs.verify(position, proof, vkey)).unchecked, ["trades.weather"]);
  for (const trades of [5, ["x"], [{ ...trade, isin: "ES0" }], [{ ...trade, volume: "2" }], null]) {
    await refused({ ...position, trades }, proof);
  }
});

test("the amount of a notice is the sum of its trades, in one currency", async () => {
  const trade = (volume, price, currency = "EUR") => ({ volume, price, currency });
  const verify = (trades, amount) => {
    const record = { id: "dealing-1", kind: "dealing", state: "current", document_status: "ready", trades };
    const proof = proofOf(0, [Buffer.from(JSON.stringify({ seq: 1, event: "position.published", time: "", changed: [], record }))]);
    return proofs.verify({ id: "dealing-1", kind: "dealing", state: "current", amount }, proof, vkey);
  };
  const two = [trade("1000000000000000001", "0.1"), trade("3", "2.05")];
  for (const amount of ["100000000000000006.25", "100000000000000006.250"]) {
    assert.deepEqual((await verify(two, amount)).unchecked, []);
  }
  for (const amount of ["100000000000000006.2", "1e17", "", null, 5]) {
    await assert.rejects(verify(two, amount), { kind: "integrity" }, String(amount));
  }
  for (const none of [[], [trade("1", "2"), trade("1", "2", "USD")]]) {
    assert.deepEqual((await verify(none, null)).unchecked, []);
    await assert.rejects(verify(none, "4"), { kind: "integrity" });
  }
  await assert.rejects(verify([trade("x", "2")], "4"), { kind: "integrity" });
});

test("a document that the log does not have is none, or waits", async () => {
  const none = { sha256: null, type: null, bytes: null, pages: null, method: null, language: null };
  for (const status of ["none", "pending"]) {
    const { checked } = await proofs.verify({ ...published(1), document: { status, ...none } }, proofWith({}), vkey);
    assert.ok(checked.includes("document"), status);
  }
  for (const wrong of [{ ...none, status: "ready" }, { ...none, status: "none", sha256: "ab" }, null]) {
    await refused({ ...published(1), document: wrong }, proofWith({}));
  }
});
