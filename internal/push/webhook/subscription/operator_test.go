package subscription_test

import (
	"testing"

	"pregon/internal/fault"
)

func TestOperator(t *testing.T) {
	w := newWorld(t)
	p := w.process(t, nil)
	if all, err := p.All(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("an empty store: %v, %v", all, err)
	}
	hook, _ := create(t, p)
	operator := w.process(t, nil)
	for range 2 { // the second call has no effect
		if err := operator.Disable(t.Context(), hook.ID, "it floods us"); err != nil {
			t.Fatal(err)
		}
	}
	if operator.audit.count("webhook.disabled") != 1 {
		t.Errorf("the audit: %s", operator.audit)
	}
	got, err := p.Find(t.Context(), owner, hook.ID)
	if err != nil || got.Enabled || got.DisabledReason != "it floods us" {
		t.Errorf("%+v, %v", got, err)
	}
	all, err := operator.All(t.Context())
	if err != nil || len(all) != 1 || all[0].ID != hook.ID {
		t.Errorf("%+v, %v", all, err)
	}
	if err := operator.Disable(t.Context(), "wh_nothing", ""); fault.KindOf(err) != fault.NotFound {
		t.Error(err)
	}
}
