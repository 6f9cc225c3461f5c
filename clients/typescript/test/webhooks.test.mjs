import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import test from "node:test";

import { webhooks } from "pregon";

const secret = `whsec_${Buffer.from("a secret of the tests, 32 bytes.").toString("base64")}`;
const other = `whsec_${Buffer.from("another secret of these tests...").toString("base64")}`;
const now = new Date("2026-11-19T12:00:00Z");
const body = JSON.stringify({ event: "report.published", id: "oir-1", title: "Señal 📈" });

function sign(secret, { id = "msg_1", at = now.getTime() / 1000, text = body } = {}) {
  const key = Buffer.from(secret.replace("whsec_", ""), "base64");
  const signature = createHmac("sha256", key).update(`${id}.${at}.${text}`).digest("base64");
  return {
    "webhook-id": id,
    "webhook-timestamp": String(at),
    "webhook-signature": `v1,${signature}`,
  };
}

const refused = (headers, text = body, secrets = secret) =>
  assert.rejects(webhooks.verify(text, headers, secrets, { now }), { name: "PregonError", kind: "signature" });

test("a signed request is accepted, in every form", async () => {
  const headers = sign(secret);
  const upper = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]));
  for (const given of [headers, upper, new Headers(headers)]) {
    for (const text of [body, Buffer.from(body), new TextEncoder().encode(body)]) {
      assert.equal((await webhooks.verify(text, given, secret, { now })).title, "Señal 📈");
    }
  }
});

test("after a rotation both secrets are good", async () => {
  const signatures = `v1a,xxxx ${sign(other)["webhook-signature"]} ${sign(secret)["webhook-signature"]}`;
  const headers = { ...sign(secret), "webhook-signature": signatures };
  assert.equal((await webhooks.verify(body, headers, secret, { now })).id, "oir-1");
  assert.equal((await webhooks.verify(body, headers, other, { now })).id, "oir-1");
  assert.equal((await webhooks.verify(body, sign(secret), [other, secret], { now })).id, "oir-1");
});

test("a request that differs in anything is refused", async () => {
  const headers = sign(secret);
  await refused(headers, body.replace("oir-1", "oir-2"));
  await refused(headers, `${body} `);
  await refused(headers, body, other);
  await refused(headers, body, []);
  await refused({ ...headers, "webhook-id": "msg_2" });
  await refused({ ...headers, "webhook-timestamp": String(now.getTime() / 1000 + 1) });
  await refused({ ...headers, "webhook-signature": headers["webhook-signature"].replace("v1,", "v2,") });
  await refused({ ...headers, "webhook-signature": "v1," });
  for (const name of Object.keys(headers)) {
    await refused({ ...headers, [name]: undefined });
  }
});

test("a request of another time is refused", async () => {
  for (const seconds of [-301, 301, Number.NaN]) {
    await refused(sign(secret, { at: now.getTime() / 1000 + seconds }));
  }
  const edge = sign(secret, { at: now.getTime() / 1000 - 300 });
  assert.equal((await webhooks.verify(body, edge, secret, { now })).id, "oir-1");
});

test("a secret may have the line feed at the end of its file", async () => {
  assert.equal((await webhooks.verify(body, sign(secret), `${secret}\n`, { now })).id, "oir-1");
});

test("a signed body that is no JSON object is refused", async () => {
  for (const text of ["", "{", "5", "null", "[]"]) {
    const headers = sign(secret, { text });
    await assert.rejects(webhooks.verify(text, headers, secret, { now }), { name: "PregonError", kind: "integrity" }, text);
  }
});

test("a secret that is none is a mistake of the caller", async () => {
  for (const wrong of ["", "whsec_", "whsec_?"]) {
    await assert.rejects(webhooks.verify(body, sign(secret), wrong, { now }), TypeError);
  }
});
