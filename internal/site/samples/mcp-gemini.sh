gemini mcp add --transport http pregon BASE/api/mcp
gemini mcp add --transport http --header "X-API-Key: $PREGON_KEY" pregon BASE/api/mcp
