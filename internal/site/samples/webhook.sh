curl 'BASE/api/v1/webhooks' -H "X-API-Key: $PREGON_KEY" -H 'Content-Type: application/json' \
  -d '{"url":"https://you.example/hook","filter":{"search":"dividendo"}}'
