package mcp_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pregon/internal/auth/access"
	"pregon/internal/disclosure"
)

// The client of the official SDK works with every revision.
func TestOfficialClient(t *testing.T) {
	t.Parallel()
	s := startLive(t)
	for _, version := range sdk.SupportedProtocolVersions() {
		t.Run(version, func(t *testing.T) {
			updates := make(chan string, 10)
			client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, &sdk.ClientOptions{
				ResourceUpdatedHandler: func(_ context.Context, r *sdk.ResourceUpdatedNotificationRequest) { updates <- r.Params.URI },
			})
			transport := &sdk.StreamableClientTransport{Endpoint: s.server.URL + access.MCPPath, HTTPClient: s.server.Client(), DisableStandaloneSSE: true}
			session, err := client.Connect(t.Context(), transport, &sdk.ClientSessionOptions{ProtocolVersion: version})
			if err != nil {
				t.Fatal(err)
			}
			defer session.Close()
			if got := session.InitializeResult(); got.ProtocolVersion != version || got.Capabilities.Tools == nil || got.ServerInfo.Name != "pregon" {
				t.Errorf("negotiated %+v", got)
			}
			useAll(t, session)
			if version < newest {
				if err := session.Ping(t.Context(), nil); err != nil {
					t.Error(err)
				}
				return // its subscriptions need sessions
			}
			if err := session.Subscribe(t.Context(), &sdk.SubscribeParams{URI: latest}); err != nil {
				t.Fatal(err)
			}
			for number := int64(91001); ; number++ { // the client does not say when the server has subscribed it
				s.file(newReport(disclosure.OIR, number, "2026-05-01T08:00:00Z"))
				select {
				case uri := <-updates:
					if uri != latest {
						t.Errorf("got an update of %s", uri)
					}
					if err := session.Unsubscribe(t.Context(), &sdk.UnsubscribeParams{URI: latest}); err != nil {
						t.Error(err)
					}
					return
				case <-time.After(300 * time.Millisecond):
				}
			}
		})
	}
}

// useAll calls every method of the protocol that reads.
func useAll(t *testing.T, session *sdk.ClientSession) {
	t.Helper()
	ctx := t.Context()
	tools, err := session.ListTools(ctx, nil)
	if err != nil || len(tools.Tools) != 18 {
		t.Fatal(tools, err)
	}
	called, err := session.CallTool(ctx, &sdk.CallToolParams{Name: "search_reports", Arguments: map[string]any{"search": "bodegas"}})
	if err != nil || called.IsError || called.StructuredContent.(map[string]any)["total"] == 0.0 {
		t.Error(called, err)
	}
	if called, err = session.CallTool(ctx, &sdk.CallToolParams{Name: "search_reports", Arguments: map[string]any{"type": "XX"}}); err != nil || !called.IsError {
		t.Error(called, err)
	}
	if _, err := session.CallTool(ctx, &sdk.CallToolParams{Name: "nope"}); err == nil || !strings.Contains(err.Error(), "unknown tool") {
		t.Error(err)
	}
	if list, err := session.ListResources(ctx, nil); err != nil || len(list.Resources) < 4 {
		t.Error(list, err)
	}
	if list, err := session.ListResourceTemplates(ctx, nil); err != nil || len(list.ResourceTemplates) != 5 {
		t.Error(list, err)
	}
	read, err := session.ReadResource(ctx, &sdk.ReadResourceParams{URI: "pregon://reports/oir-40374"})
	if err != nil || !json.Valid([]byte(read.Contents[0].Text)) {
		t.Error(read, err)
	}
	if _, err := session.ReadResource(ctx, &sdk.ReadResourceParams{URI: "pregon://nope"}); err == nil {
		t.Error("a resource that does not exist is read")
	}
	if list, err := session.ListPrompts(ctx, nil); err != nil || len(list.Prompts) != 3 {
		t.Error(list, err)
	}
	if got, err := session.GetPrompt(ctx, &sdk.GetPromptParams{Name: "explain_filing", Arguments: map[string]string{"id": "oir-40374"}}); err != nil || len(got.Messages) != 2 {
		t.Error(got, err)
	}
	completed, err := session.Complete(ctx, &sdk.CompleteParams{
		Ref: &sdk.CompleteReference{Type: "ref/prompt", Name: "explain_filing"}, Argument: sdk.CompleteParamsArgument{Name: "id", Value: "oir-4"},
	})
	if err != nil || len(completed.Completion.Values) == 0 {
		t.Error(completed, err)
	}
}
