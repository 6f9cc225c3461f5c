claude mcp add --transport http pregon BASE/api/mcp
claude mcp add --transport http pregon BASE/api/mcp --header "X-API-Key: $PREGON_KEY"
