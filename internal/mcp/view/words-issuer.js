// The words of this view.

Object.assign(WORDS.en, {
  cif: 'Tax number',
  former_names: 'Former names',
  identifiers: 'Other identifiers',
  isins: 'ISIN',
  more_reports: 'Show more reports',
  no_date: 'Without a date',
  no_issuer: 'The answer names no issuer.',
  timeline: 'Timeline',
})

Object.assign(WORDS.es, {
  cif: 'NIF',
  former_names: 'Nombres anteriores',
  identifiers: 'Otros identificadores',
  isins: 'ISIN',
  more_reports: 'Mostrar más comunicaciones',
  no_date: 'Sin fecha',
  no_issuer: 'La respuesta no nombra a ningún emisor.',
  timeline: 'Cronología',
})
