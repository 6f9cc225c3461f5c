package simserver

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"fmt"
	"strconv"
	"strings"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/sim/archive"
	"pregon/internal/sim/filler"
)

// firstYear is the first year of the open data.
const firstYear = 2012

// downloads answers the page with the monthly files of a year. The current month has
// none yet.
func (s *Server) downloads(r *request) answer {
	now := r.now.In(disclosure.Madrid)
	year := now.Year()
	if text := r.URL.Query().Get("ejercicio"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			return badRequest
		}
		year = n
	}
	b := []byte("<table id=\"ctl00_ContentPrincipal_grdDescargas\" class=\"tabla\"><caption>Descarga de información individual</caption>\r\n")
	for month := range 12 {
		last := time.Date(year, time.Month(month+1), 1, 0, 0, 0, 0, disclosure.Madrid)
		if year < firstYear || !last.AddDate(0, 1, 0).Before(now) {
			break
		}
		name := strings.ToUpper(filler.Months[month][:1]) + filler.Months[month][1:]
		b = append(b, "<tr><td data-th=\"Mes\">"+name+"</td><td><a href=\""+archive.Token(s.seed, archive.TokenMonth, uint64(year-firstYear), uint64(month+1))+
			"\" title=\""+name+"\" target=\"_blank\">Descargar</a></td></tr>\r\n"...)
	}
	return page{title: "Descarga de información individual", content: append(b, "</table>\r\n"...)}.answer()
}

// The elements of the XML register.
type (
	fondRegistro struct {
		XMLName  xml.Name  `xml:"FondRegistro"`
		Entities []entidad `xml:"Entidad"`
	}
	entidad struct {
		Tipo           string
		NumeroRegistro int
		Denominacion   string
		ETF            string
		Compartimento  compartimento
		Gestora        gestora
		Depositario    depositario
	}
	compartimento struct {
		NumeroCompartimento       int
		DenominacionCompartimento string `xml:",omitempty"`
		Clase                     []clase
	}
	clase struct {
		NumeroClase       int
		DenominacionClase string `xml:",omitempty"`
		ISIN              string
	}
	gestora struct {
		TipoGestora           string
		NumeroRegistroGestora int
		DenominacionGestora   string
	}
	depositario struct {
		TipoDepositario         string `xml:",omitempty"`
		DenominacionDepositario string
	}
)

// registerZip answers the file of a month: the register and two other members.
func (s *Server) registerZip(year, month int) answer {
	if month < 1 || month > 12 {
		return forbidden
	}
	stamp := fmt.Sprintf("%04d%02d", year, month)
	text, err := xml.MarshalIndent(s.openRegister(), "", " ")
	if err != nil {
		return answer{status: 500}
	}
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, member := range []struct{ name, text string }{
		{"LEAME.txt", "Datos de un mercado simulado.\r\n"},
		{"FONDMENS_" + stamp + ".xml", xml.Header + "<FondMens></FondMens>\n"},
		{"FONDREGISTRO_" + stamp + ".xml", xml.Header + string(text) + "\n"},
	} {
		w, err := z.Create(member.name)
		if err == nil {
			_, err = w.Write([]byte(member.text))
		}
		if err != nil {
			return answer{status: 500}
		}
	}
	if err := z.Close(); err != nil {
		return answer{status: 500}
	}
	return answer{kind: "application/zip", body: out.Bytes()}
}

func (s *Server) openRegister() fondRegistro {
	numbers := map[string]int{}
	for _, e := range s.managerEntries() {
		numbers[e.name] = e.number
	}
	var out fondRegistro
	for n, e := range s.register() {
		one := entidad{
			Tipo: e.family, NumeroRegistro: e.number, Denominacion: e.name, ETF: "N",
			Gestora:     gestora{"SGIIC", numbers[e.fund.Manager.Name], e.fund.Manager.Name},
			Depositario: depositario{"ED", e.fund.Depositary.Name},
		}
		switch n { // some names carry their status
		case 4:
			one.Denominacion += " baja 01.02.26"
		case 11:
			one.Denominacion += " (EN LIQUIDACION)"
		case 17:
			one.Depositario.TipoDepositario = "" // real files deviate from their schema
		}
		for k, isin := range e.fund.ISINs {
			one.Compartimento.Clase = append(one.Compartimento.Clase, clase{NumeroClase: k, ISIN: isin})
		}
		out.Entities = append(out.Entities, one)
	}
	return out
}
