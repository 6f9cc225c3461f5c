package main

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/auth/secret"
	"pregon/internal/cli"
	"pregon/internal/fault"
	"pregon/internal/push/alert"
	"pregon/internal/push/alert/channel"
	"pregon/internal/push/alert/subscription"
	"pregon/internal/service/push"
	"pregon/internal/store/engine"
)

// Variables with what must not be in the arguments of a process.
const (
	smtpUserEnv     = "PREGON_SMTP_USER"
	smtpPasswordEnv = "PREGON_SMTP_PASSWORD"
)

// channelFlags configure what sends messages of alerts.
type channelFlags struct {
	SMTP              string   `name:"smtp" placeholder:"URL" help:"Mail server through which alerts are sent: smtp://HOST:PORT, with STARTTLS unless it is on this machine, or smtps://HOST:PORT. User and password are in PREGON_SMTP_USER and PREGON_SMTP_PASSWORD. Default: none, and e-mail is not offered."`
	SMTPRate          float64  `name:"smtp-rate" default:"10" placeholder:"N" help:"E-mails that this process sends in a second, 1 to 10000."`
	AlertsFrom        string   `placeholder:"ADDRESS" help:"Sender of alerts by e-mail, such as 'Pregon <alerts@example.com>'. Needed with --smtp."`
	TelegramTokenFile string   `placeholder:"FILE" help:"File with the token of the Telegram bot that sends alerts. Default: none, and Telegram is not offered."`
	AlertsOff         []string `placeholder:"KIND" help:"Kinds of channels that are not offered, separated by commas: email, telegram, slack, discord, teams, mattermost, ntfy, gotify, webpush; or all."`
	WebPushHost       []string `name:"webpush-host" placeholder:"HOST" help:"Hosts of push services for browsers beside those of Chrome, Edge, Firefox and Safari, separated by commas. A dot in front allows all below a name. With --webhook-allow-private any host is allowed."`
}

func (f *channelFlags) validate() error {
	for _, kind := range f.AlertsOff {
		if kind != "all" && !alert.Kind(kind).Known() {
			return fault.New(fault.Invalid, "--alerts-off %q is not a kind of channels: use %s, or all", kind,
				strings.Join(kindNames(), ", "))
		}
	}
	for _, host := range f.WebPushHost {
		if err := channel.CheckPushHost(host); err != nil {
			return fault.New(fault.Invalid, "--webpush-host: %v", err)
		}
	}
	if f.SMTPRate < 1 || f.SMTPRate > 10_000 {
		return fault.New(fault.Invalid, "--smtp-rate %v must be from 1 to 10000", f.SMTPRate)
	}
	if f.SMTP == "" {
		return nil
	}
	if !isMailServer(f.SMTP) {
		return fault.New(fault.Invalid, "--smtp must be smtp://HOST:PORT or smtps://HOST:PORT; put the user and the "+
			"password into %s and %s", smtpUserEnv, smtpPasswordEnv)
	}
	if f.AlertsFrom == "" {
		return fault.New(fault.Invalid, "--smtp needs --alerts-from, the sender of the e-mails")
	}
	return nil
}

// isMailServer reports whether an address has a scheme, a host and nothing else but a port.
func isMailServer(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" || u.User != nil {
		return false
	}
	if strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" {
		return false
	}
	return u.Scheme == "smtp" || u.Scheme == "smtps"
}

// settings translates the flags, which must be valid.
func (f *channelFlags) settings(p *process) (out channel.Settings, err error) {
	if f.TelegramTokenFile != "" {
		if out.Telegram.Token, err = readToken(f.TelegramTokenFile); err != nil {
			return out, err
		}
	}
	out.Email = channel.EmailSettings{
		Server:            f.SMTP,
		User:              p.getenv(smtpUserEnv),
		Password:          p.getenv(smtpPasswordEnv),
		From:              f.AlertsFrom,
		MessagesPerSecond: f.SMTPRate,
	}
	out.WebPush.Hosts = f.WebPushHost
	for _, kind := range alert.Kinds() {
		if slices.Contains(f.AlertsOff, "all") || slices.Contains(f.AlertsOff, string(kind)) {
			out.Off = append(out.Off, kind)
		}
	}
	return out, nil
}

// maxToken is the size of the file of a token, in bytes.
const maxToken = 1000

// readToken reads the first line of a file.
func readToken(name string) (string, error) {
	file, err := os.Open(name)
	if err != nil {
		return "", fault.New(fault.Invalid, "--telegram-token-file cannot be read: %v", err)
	}
	defer file.Close()
	body, err := io.ReadAll(io.LimitReader(file, maxToken))
	if err != nil {
		return "", fault.New(fault.Invalid, "--telegram-token-file cannot be read: %v", err)
	}
	token, _, _ := strings.Cut(strings.TrimSpace(string(body)), "\n")
	if token = strings.TrimSpace(token); token == "" {
		return "", fault.New(fault.Invalid, "--telegram-token-file %s is empty", name)
	}
	return token, nil
}

// alertFlags are what an operator decides about alerts.
type alertFlags struct {
	channelFlags
	AlertsLog      string `placeholder:"FILE" help:"Write the messages of alerts to this file, with their links, and send none. A file for tests: its lines have secrets."`
	AlertsDaily    int    `default:"200" placeholder:"N" help:"Messages of alerts for an account in a day. Further events come the next day, in one message."`
	AlertsChannels int    `default:"10" placeholder:"N" help:"Channels of alerts of an account."`
	AlertsMax      int    `default:"50" placeholder:"N" help:"Alerts of an account."`
}

func (f *alertFlags) validate() error {
	for flag, value := range map[string]int{
		"--alerts-daily":    f.AlertsDaily,
		"--alerts-channels": f.AlertsChannels,
		"--alerts-max":      f.AlertsMax,
	} {
		if value < 1 || value > 10_000 {
			return fault.New(fault.Invalid, "%s %d must be from 1 to 10000", flag, value)
		}
	}
	return f.channelFlags.validate()
}

// settings translates the flags, which must be valid.
func (f *alertFlags) settings(p *process) (push.AlertSettings, error) {
	channels, err := f.channelFlags.settings(p)
	if err == nil && f.AlertsLog != "" {
		var file *os.File
		if file, err = os.OpenFile(f.AlertsLog, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err != nil {
			return push.AlertSettings{}, fault.New(fault.Invalid, "--alerts-log cannot be written: %v", err)
		}
		channels.Instead = channel.NewJournal(file)
	}
	return push.AlertSettings{
		Channels: channels,
		Limits: subscription.Limits{
			Channels: f.AlertsChannels,
			Alerts:   f.AlertsMax,
		},
		Daily: f.AlertsDaily,
	}, err
}

func kindNames() (names []string) {
	for _, k := range alert.Kinds() {
		names = append(names, string(k))
	}
	return names
}

type alertsCmd struct {
	List  listAlertsCmd  `cmd:"" help:"List the channels of all accounts with their states."`
	Pause pauseAlertsCmd `cmd:"" help:"Stop messages to an address, for instance because they bounce. Its accounts see why, and can resume it."`
	Test  testAlertsCmd  `cmd:"" help:"Send a sample to an address, to see whether the settings work. No store is needed."`
}

// withAlerts calls do with the channels and alerts of the store. A running service sees
// changes to them within a second.
func (f *adminFlags) withAlerts(ctx context.Context, p *process, do func(*subscription.Registry) error) error {
	box, err := secret.NewBox(p.getenv(secretKeyEnv))
	if err != nil {
		return err
	}
	return f.with(ctx, func(db engine.Store, audit access.Audit) error {
		return do(subscription.New(subscription.Options{
			Store:  db,
			Sealer: box,
			Audit:  audit,
		}))
	})
}

type listAlertsCmd struct {
	adminFlags
	JSON bool `name:"json" help:"Print one JSON object a line, for programs."`
}

// channelLine is a channel in the list.
type channelLine struct {
	ID        string     `json:"id"`
	Owner     string     `json:"owner"`
	Kind      string     `json:"kind"`
	To        string     `json:"to"` // without secrets
	State     string     `json:"state"`
	Reason    string     `json:"reason,omitempty"`
	Alerts    int        `json:"alerts"`
	Since     *time.Time `json:"since"`
	CreatedAt time.Time  `json:"created_at"`
}

// Run lists the channels.
func (c *listAlertsCmd) Run(ctx context.Context, p *process) error {
	var lines []channelLine
	if err := c.withAlerts(ctx, p, func(r *subscription.Registry) error {
		all, err := r.AllChannels(ctx)
		alerts := map[string]int{}
		for _, a := range r.Known().Alerts {
			alerts[a.Channel]++
		}
		for _, found := range all {
			lines = append(lines, channelLine{
				ID:        found.ID,
				Owner:     found.Account,
				Kind:      string(found.Kind),
				To:        found.Shown,
				State:     string(found.State),
				Reason:    found.Reason,
				Alerts:    alerts[found.ID],
				Since:     orNull(found.Since),
				CreatedAt: found.CreatedAt.UTC(),
			})
		}
		return err
	}); err != nil {
		return err
	}
	const header = "ID\tOWNER\tKIND\tTO\tSTATE\tALERTS\tCREATED\tSINCE\tREASON"
	return cli.PrintList(p.stdout, lines, c.JSON, header, func(l channelLine) []string {
		return []string{
			l.ID, l.Owner, l.Kind, l.To, l.State, strconv.Itoa(l.Alerts),
			day(&l.CreatedAt), minute(l.Since), l.Reason,
		}
	})
}

type pauseAlertsCmd struct {
	adminFlags
	Kind    string `arg:"" help:"Kind of the channel, such as email."`
	Address string `arg:"" help:"The address."`
	Reason  string `default:"messages to this address came back" placeholder:"TEXT" help:"Reason that its accounts see."`
}

// Run pauses the channels with an address.
func (c *pauseAlertsCmd) Run(ctx context.Context, p *process) error {
	return c.withAlerts(ctx, p, func(r *subscription.Registry) error {
		n, err := r.PauseAddress(ctx, alert.Kind(c.Kind), c.Address, c.Reason)
		if err != nil {
			return err
		}
		if n == 0 {
			return fault.New(fault.NotFound, "no active channel of the kind %s has this address", c.Kind)
		}
		_, err = fmt.Fprintf(p.stderr, "%d channels are paused\n", n)
		return err
	})
}

type testAlertsCmd struct {
	channelFlags
	Kind     string `arg:"" help:"Kind of the channel, such as email."`
	Address  string `arg:"" help:"Where the sample is sent."`
	Language string `default:"en" enum:"en,es" help:"Language of the sample: en or es."`
}

// Run sends a sample.
func (c *testAlertsCmd) Run(ctx context.Context, p *process) error {
	if err := c.validate(); err != nil {
		return err
	}
	settings, err := c.settings(p)
	if err != nil {
		return err
	}
	return push.SendSample(ctx, settings, alert.Kind(c.Kind), c.Address, c.Language)
}
