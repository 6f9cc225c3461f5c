package simserver

import (
	"fmt"
	"strconv"

	"pregon/internal/disclosure"
	"pregon/internal/sim/archive"
)

// appendRows appends the list element with a row for each report. A page without
// the element is an error page.
func appendRows(b []byte, rows []*archive.Report, r *request) []byte {
	b = append(b, "<ul id=\"listaElementosPrimernivel\">\r\n"...)
	for n, f := range rows {
		b = appendRow(b, n+1, f, r)
	}
	return append(b, "</ul>\r\n"...)
}

const control = "ctl00_ContentPrincipal_wucRelacionRegistros_repListaPrincipal_ctl"

func appendRow(b []byte, n int, f *archive.Report, r *request) []byte {
	id := fmt.Sprintf("%s%02d", control, n)
	at := f.PublishedAt.Add(r.skew).In(disclosure.Madrid)
	b = append(b, " <li id=\""+id+"_elementoPrimerNivel\" class=\"blocks-single\">\r\n  <ul id=\""+id+"_sublistaIzquierda\" class=\"col-12 col-sm-12 single\">\r\n"...)
	b = append(b, "   <li id=\""+id+"_liFechaRegistro\" class=\"fecha-con-hora\">\r\n        "...)
	b = at.AppendFormat(b, "02/01/2006")
	b = append(b, "\r\n   </li>\r\n   <li id=\""+id+"_liHora\" class=\"time\">\r\n        "...)
	b = at.AppendFormat(b, "15:04")
	b = append(b, "\r\n   </li>\r\n   <li id=\""+id+"_liTituloCabecera\">\r\n     <a id=\""+id+"_hlTituloCabecera\""...)
	if f.NIF != "" {
		b = appendAttr(append(b, " href=\"../consultas/datosentidad.aspx?nif="...), f.NIF)
		b = append(b, "\" target=\"_self\""...)
	}
	b = append(b, "><span id=\""+id+"_spanTituloCabecera\" class=\"tit-small\">"...)
	b = appendText(b, f.CompanyName)
	b = append(b, "</span></a>\r\n   </li>\r\n   <li id=\""+id+"_lisubTituloCabecera\"><span class=\"resumen\">\r\n     <span id=\""+id+"_descripcionSubtituloCabecera\" class=\"negrita\" lang=\"es\">"...)
	b = appendText(b, f.Category)
	b = append(b, "</span></span></li>\r\n   <li id=\""+id+"_liSubtituloRegistro\" class=\"padding-r resumen\">\r\n     <a id=\""+id+"_subtituloRegistroEnlace\""...)
	if f.Link != "" {
		b = appendAttr(append(b, " href=\""...), f.Link)
		b = append(b, "\" target=\"_blank\""...)
	}
	b = append(b, "><span data-addsearch=\"exclude\">"...)
	b = appendText(b, f.Title)
	b = append(b, "</span></a>\r\n   </li>\r\n   <li class=\"padding-r resumen\">\r\n        Número de registro: "...)
	b = strconv.AppendInt(b, f.Number, 10)
	b = append(b, "\r\n   </li>\r\n"...)
	for _, rel := range f.Related {
		b = append(b, "   <li id=\""+id+"_liRelacionado\" class=\"padding-r resumen\">\r\n     <a id=\""+id+"_hlRelacionado\" href=\""...)
		b = appendAttr(b, f.Other)
		b = appendText(append(b, "\" target=\"_blank\">"...), rel.Text)
		b = append(b, "</a>\r\n   </li>\r\n"...)
	}
	return append(b, "  </ul>\r\n </li>\r\n"...)
}
