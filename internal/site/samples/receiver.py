import base64, hashlib, hmac, os, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def verify(secret, headers, body):
    """Reports whether a request was signed with the secret, in the last five minutes.

    After a rotation there are several signatures: one that matches is enough.
    """
    key = base64.b64decode(secret.removeprefix("whsec_"))
    sent = headers.get("webhook-timestamp", "")
    if not (sent.isascii() and sent.isdigit()) or abs(time.time() - int(sent)) > 300:
        return False
    signed = f"{headers.get('webhook-id', '')}.{sent}.".encode() + body
    want = b"v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())
    signatures = headers.get("webhook-signature", "").encode("utf-8", "replace").split()
    return any(hmac.compare_digest(s, want) for s in signatures)  # the same time for any signature


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(min(int(self.headers.get("content-length", 0)), 1 << 20))  # the bytes as they came
        good = verify(os.environ["SECRET"], self.headers, body)
        self.send_response(204 if good else 401)
        self.end_headers()
        if good:
            print(self.headers["webhook-id"], body.decode(), flush=True)  # process each id once

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "9000"))), Receiver)
print("port", server.server_port, flush=True)
server.serve_forever()
