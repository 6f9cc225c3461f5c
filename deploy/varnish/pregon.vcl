# /etc/varnish/default.vcl: Varnish 6 or newer as a cache in front of one replica, or of a
# proxy with several.
#
# Change the address of the backend. Start pregon with --base-url https://pregon.example and
# --trusted-proxy 127.0.0.1: the address from which Varnish calls it, and no other. The
# built-in subroutines follow these: docs/scale.md says what is kept.
vcl 4.1;

backend default {
	.host = "127.0.0.1";
	.port = "8080";
	.connect_timeout = 2s;
	.first_byte_timeout = 75s;
	.between_bytes_timeout = 75s;
}

sub vcl_recv {
	# The address of the client alone, so that it cannot send one of its own.
	set req.http.X-Forwarded-For = client.ip;

	# A caller with a credential gets an answer of its own.
	if (req.http.Authorization || req.http.X-API-Key || req.http.Cookie) {
		return (pass);
	}

	# Large files, of which clients ask for parts.
	if (req.url ~ "^/api/v1/bulk/") {
		return (pass);
	}
}

sub vcl_backend_fetch {
	# Names this cache, so that answers have no header about one caller.
	set bereq.http.CDN-Loop = "pregon-varnish";
}

sub vcl_backend_response {
	# Nothing is kept that does not say for how long, nor after that.
	if (!beresp.http.Cache-Control) {
		set beresp.ttl = 0s;
	}
	set beresp.grace = 0s;
	set beresp.keep = 0s;
}

sub vcl_deliver {
	if (obj.uncacheable) {
		set resp.http.X-Cache = "BYPASS";
	} else if (obj.hits > 0) {
		set resp.http.X-Cache = "HIT";
	} else {
		set resp.http.X-Cache = "MISS";
	}
}
