package remote

import "net/http"

// Through makes a log use a transport.
func (l *Log) Through(t http.RoundTripper) { l.client.Transport = t }
