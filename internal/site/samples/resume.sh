curl -N 'BASE/api/v1/stream?type=IP' -H "X-API-Key: $PREGON_KEY" -H "Last-Event-ID: $CURSOR"
