package disclosure

import (
	"strconv"
	"time"

	"pregon/internal/text"
)

// AppendReport appends the JSON object that the contract calls a Report: its
// nine fields in its order, null for empty ones. The ticker is a separate argument
// because the directory may have one that the report does not have.
//
// It does not use encoding/json because every list, stream and webhook consists of
// these bytes. A test compares it with encoding/json.
func AppendReport(b []byte, r *Report, ticker string) []byte {
	return AppendReportTail(AppendTicker(AppendReportHead(b, r), ticker), r)
}

// AppendReportHead appends what comes before the ticker, AppendTicker the
// ticker, and AppendReportTail the rest: for a caller that keeps a report encoded
// and inserts the ticker later.
func AppendReportHead(b []byte, r *Report) []byte {
	b = appendField(b, `{"id":`, r.ID)
	return appendField(b, `,"company_name":`, r.CompanyName)
}

// AppendTicker is described by AppendReportHead.
func AppendTicker(b []byte, ticker string) []byte { return appendNullable(b, `,"ticker":`, ticker) }

// AppendReportTail is described by AppendReportHead.
func AppendReportTail(b []byte, r *Report) []byte {
	b = appendField(b, `,"type":`, string(r.Type))
	b = appendField(b, `,"title":`, r.Title)
	b = appendNullable(b, `,"summary":`, r.Summary)
	b = append(b, `,"published_at":"`...)
	b = r.PublishedAt.In(Madrid).AppendFormat(b, time.RFC3339Nano)
	b = append(b, `","cnmv_registration_number":"`...)
	b = strconv.AppendInt(b, r.Number, 10)
	b = appendNullable(b, `","pdf_url":`, r.PDFURL)
	return append(b, '}')
}

// AppendIssuer appends the JSON object that the contract calls an Issuer.
func AppendIssuer(b []byte, i *Issuer) []byte {
	b = appendField(b, `{"id":`, i.ID)
	b = appendField(b, `,"name":`, i.Name)
	b = appendNullable(b, `,"cif":`, i.CIF())
	b = appendNullable(b, `,"ticker":`, i.Ticker)
	b = appendNullable(b, `,"market":`, i.Market)
	return append(b, '}')
}

func appendField(b []byte, name, value string) []byte {
	return text.AppendJSON(append(b, name...), value)
}

func appendNullable(b []byte, name, value string) []byte {
	if value == "" {
		return append(append(b, name...), "null"...)
	}
	return appendField(b, name, value)
}
