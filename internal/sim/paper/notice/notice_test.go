package notice_test

import (
	"bytes"
	"strconv"
	"strings"
	"testing"

	"pregon/internal/disclosure"
	"pregon/internal/sim/paper/notice"
)

// sample returns a notice of a number of rows.
func sample(rows int) notice.Notice {
	day, _ := disclosure.ParseDay("2026-09-17")
	n := notice.Notice{
		Number: "2026126933",
		Issuer: "ACERÍAS FICTICIAS DEL NERVA, S.A.",
		LEI:    "9598FICTICIA00000141",
		Person: "Lorenza Casquero Olmo",
		Role:   "Consejera ejecutiva",
	}
	for i := range rows {
		n.Trades = append(n.Trades, notice.Trade{
			ISIN:       "ES01SIM99017",
			Instrument: "Acción",
			Nature:     "Venta",
			Date:       day,
			Venue:      "XMAD",
			Volume:     strconv.Itoa(100 + i),
			Price:      "2.85",
			Currency:   "EUR",
		})
	}
	return n
}

func TestSameNoticeSameBytes(t *testing.T) {
	a, b := notice.PDF(sample(3)), notice.PDF(sample(3))
	if !bytes.Equal(a, b) {
		t.Error("two files of one notice differ")
	}
	other := sample(3)
	other.Trades[1].Price = "2.86"
	if bytes.Equal(a, notice.PDF(other)) {
		t.Error("files of notices with different prices are equal")
	}
}

func TestPages(t *testing.T) {
	for rows, want := range map[int]int{0: 1, 1: 1, 200: 5} {
		file := notice.PDF(sample(rows))
		if got := bytes.Count(file, []byte("/Type /Page ")); got != want {
			t.Errorf("%d rows: got %d pages, want %d", rows, got, want)
		}
		if !bytes.Contains(file, []byte("/Producer (Mercado simulado)")) {
			t.Errorf("%d rows: the file does not say that it is simulated", rows)
		}
	}
}

// TestHostileNotice writes what no notice has. The file must be whole.
func TestHostileNotice(t *testing.T) {
	n := sample(1)
	n.Person = strings.Repeat("(\\) ", 3000) + "漢字"
	n.Trades[0].Nature = strings.Repeat("x", 5000)
	n.Trades[0].Volume = "no number"
	n.Trades[0].Price = ""
	if file := notice.PDF(n); !bytes.HasSuffix(file, []byte("%%EOF\n")) {
		t.Error("the file is cut off")
	}
	if file := notice.PDF(notice.Notice{}); !bytes.HasSuffix(file, []byte("%%EOF\n")) {
		t.Error("the file of an empty notice is cut off")
	}
}
