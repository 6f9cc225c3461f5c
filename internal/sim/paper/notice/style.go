package notice

// Style is the layout of a notice. The regulator's is Usual; others test readers.
type Style struct {
	Size       float64                                     // of the font of the grid
	Widths     [8]float64                                  // of the columns, in points
	Gap        float64                                     // between the columns
	Heads      [8]string                                   // of the columns, without their labels
	TotalHead  string                                      // of the line above the total of an operation
	Align      Align                                       // of cells of several lines
	Points     bool                                        // between thousands
	HeadOnce   bool                                        // the heads are on the first page of the grid only
	LeftFigure bool                                        // figures are aligned to the left
	Break      bool                                        // figures that are too long for their column are broken
	Order      []int                                       // of the columns; nil: as the form has them
	Total      func(volume, price string) (string, string) // changes what the totals state, unless nil
}

// Align is where the lines of a short cell are in a row of several lines.
type Align int

// The alignments.
const (
	Top Align = iota
	Middle
	Bottom
)

// Usual returns the style of the regulator.
func Usual() Style {
	return Style{
		Size:   8,
		Widths: [8]float64{68, 58, 70, 50, 32, 74, 56, 36},
		Gap:    9,
		Heads: [8]string{
			"Código de identificación / Identification code",
			"Naturaleza del instrumento / Type of instrument",
			"Naturaleza de la operación / Nature of the transaction",
			"Fecha / Date",
			"Lugar / Place",
			"Volumen / Volume",
			"Precio unitario / Unit price",
			"Divisa / Currency",
		},
		TotalHead: "Total Agregado / Aggregated information",
	}
}
