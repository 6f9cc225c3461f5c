package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/pocketbase/dbx"
	"github.com/pocketbase/pocketbase/apis"
	"github.com/pocketbase/pocketbase/core"
	_ "github.com/pocketbase/pocketbase/migrations" // its own tables
	"github.com/pocketbase/pocketbase/tools/types"

	"pregon/internal/sim/market"
)

// pocketbase runs the same queries over HTTP on PocketBase, a service that is easy
// to set up: the ten newest and the exact total. PocketBase scans every row, so it
// receives each query of a sample once. After each of them Pregón receives the whole
// sample, so that both run under the same conditions.
func (b *bench) pocketbase() error {
	path, err := b.storeOf(whole)
	if err != nil {
		return err
	}
	dir, err := b.pocketbaseOf(whole)
	if err != nil {
		return fmt.Errorf("filling PocketBase: %w", err)
	}
	ours, err := b.serve(path)
	if err != nil {
		return fmt.Errorf("starting Pregón: %w", err)
	}
	defer ours.stop()
	self, err := os.Executable()
	if err != nil {
		return err
	}
	theirs, err := start(self, "pocketbase", dir)
	if err != nil {
		return fmt.Errorf("starting PocketBase: %w", err)
	}
	defer theirs.stop()

	var mine, peers []string
	for i, q := range queries(1000) {
		if i%20 == 0 {
			mine = append(mine, ours.url+"/api/v1/reports?search="+url.QueryEscape(q))
			peers = append(peers, theirs.url+"/api/collections/reports/records?perPage=10&sort=-published_at&filter="+
				url.QueryEscape(pocketbaseFilter(q)))
		}
	}
	// PocketBase sends chunked responses, which our own client does not read.
	client := &http.Client{Transport: &http.Transport{MaxConnsPerHost: 1, DisableCompression: true}}
	defer client.CloseIdleConnections()
	for _, warm := range []string{mine[0], peers[0]} {
		if _, _, err := ask(client, warm); err != nil {
			return err
		}
	}
	var oursTook, theirsTook time.Duration
	empty := 0
	for _, target := range peers {
		took, body, err := ask(client, target)
		if err != nil {
			return err
		}
		theirsTook += took
		var page struct{ TotalItems *int }
		if err := json.Unmarshal(body, &page); err != nil || page.TotalItems == nil {
			return fmt.Errorf("%s: the response has no total: %.200s", target, body)
		}
		if *page.TotalItems == 0 {
			empty++
		}
		for _, target := range mine {
			took, _, err := ask(client, target)
			if err != nil {
				return err
			}
			oursTook += took
		}
	}
	n := time.Duration(len(peers))
	fmt.Fprintf(os.Stderr, "# %d queries: PocketBase takes %v each and finds nothing for %d, Pregón %v\n",
		n, (theirsTook / n).Round(time.Millisecond), empty, (oursTook / n / n).Round(time.Microsecond))
	figure("search.vs_pocketbase", theirsTook.Seconds()/(oursTook.Seconds()/float64(n)), "ratio")
	return nil
}

// pocketbaseFilter returns a filter that requires every word of a search in any of
// the texts.
func pocketbaseFilter(q string) string {
	words := strings.Fields(q) // only letters and digits, nothing to escape
	for i, w := range words {
		words[i] = fmt.Sprintf("(title~'%[1]s'||company_name~'%[1]s'||category~'%[1]s')", w)
	}
	return "(" + strings.Join(words, "&&") + ")"
}

// ask returns how long a response takes to its last byte.
func ask(client *http.Client, target string) (time.Duration, []byte, error) {
	start := time.Now()
	resp, err := client.Get(target)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	took := time.Since(start)
	if err != nil {
		return 0, nil, fmt.Errorf("%s: %w", target, err)
	}
	if resp.StatusCode != http.StatusOK {
		return 0, nil, fmt.Errorf("%s: got status %s: %.200s", target, resp.Status, body)
	}
	return took, body, nil
}

// pocketbaseOf returns a folder of PocketBase with n reports. It creates the folder
// if it does not exist.
func (b *bench) pocketbaseOf(n int) (string, error) {
	dir := filepath.Join(b.dir, fmt.Sprintf("pocketbase-%d", n))
	if _, err := os.Stat(dir); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return dir, err
	}
	fmt.Fprintf(os.Stderr, "# making a PocketBase of %d reports\n", n)
	making := dir + ".making"
	if err := os.RemoveAll(making); err != nil {
		return "", err
	}
	app := core.NewBaseApp(core.BaseAppConfig{DataDir: making})
	if err := app.Bootstrap(); err != nil {
		return "", err
	}
	if err := errors.Join(fillPocketbase(app, n), app.ResetBootstrapState()); err != nil {
		return "", err
	}
	return dir, os.Rename(making, dir)
}

// fillPocketbase creates the collection and writes its rows as PocketBase would,
// but in one transaction.
func fillPocketbase(app core.App, n int) error {
	reports := core.NewBaseCollection("reports")
	reports.ListRule = types.Pointer("") // public
	reports.Fields.Add(
		&core.TextField{Name: "company_name"},
		&core.TextField{Name: "ticker"},
		&core.TextField{Name: "title"},
		&core.TextField{Name: "category"},
		&core.DateField{Name: "published_at"},
	)
	reports.AddIndex("reports_published_at", false, "published_at", "")
	if err := app.Save(reports); err != nil {
		return err
	}
	err := app.RunInTransaction(func(tx core.App) error {
		insert := tx.DB().NewQuery(`INSERT INTO reports (id, company_name, ticker, title, category, published_at)
			VALUES ({:id}, {:company_name}, {:ticker}, {:title}, {:category}, {:published_at})`).Prepare()
		defer insert.Close()
		i := 0
		for r := range market.New(seed).Bulk(n, until) {
			i++
			if _, err := insert.Bind(dbx.Params{
				"id":           fmt.Sprintf("%015d", i),
				"company_name": r.CompanyName,
				"ticker":       r.Ticker,
				"title":        r.Title,
				"category":     r.Category,
				"published_at": r.PublishedAt.UTC().Format(types.DefaultDateLayout),
			}).Execute(); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	_, err = app.NonconcurrentDB().NewQuery("PRAGMA optimize").Execute() // as it does every night
	return err
}

// pocketbaseMain serves a folder of PocketBase.
func pocketbaseMain(args []string) {
	if len(args) != 1 {
		fmt.Fprintln(os.Stderr, "usage: bench pocketbase FOLDER")
		os.Exit(2)
	}
	if err := servePocketbase(args[0]); err != nil {
		fmt.Fprintln(os.Stderr, "pocketbase:", err)
		os.Exit(1)
	}
}

func servePocketbase(dir string) error {
	app := core.NewBaseApp(core.BaseAppConfig{DataDir: dir})
	if err := app.Bootstrap(); err != nil {
		return err
	}
	app.OnServe().BindFunc(func(e *core.ServeEvent) error {
		e.InstallerFunc = nil // it opens a browser
		e.Router.GET("/readyz", func(e *core.RequestEvent) error { return e.NoContent(http.StatusOK) })
		var err error
		if e.Listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			return err
		}
		if err := e.Next(); err != nil {
			return err
		}
		fmt.Fprintf(os.Stderr, "listening address=http://%s\n", e.Listener.Addr())
		return nil
	})
	return apis.Serve(app, apis.ServeConfig{})
}
