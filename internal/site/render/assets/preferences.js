// The preferences of the reader, which this browser keeps. It runs before anything is
// painted, so that nothing moves or changes its colour.
'use strict'
try {
  for (const name of ['theme', 'rows', 'shortcuts']) {
    const value = localStorage.getItem(name)
    if (value) document.documentElement.dataset[name] = value
  }
} catch {} // the browser does not keep anything
