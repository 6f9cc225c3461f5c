package extract

import _ "github.com/klippa-app/go-pdfium/webassembly"

import _ "github.com/tetratelabs/wazero"
