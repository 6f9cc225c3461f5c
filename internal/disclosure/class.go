package disclosure

import "pregon/internal/text"

// EUClass is a class of regulated information, as the annex of Regulation (EU) 2016/1437
// numbers them.
type EUClass string

// The classes that reports can have. Holdings (2.3) and own shares (2.4) have registers of
// their own.
const (
	AnnualReports         EUClass = "1.1"
	HalfYearReports       EUClass = "1.2"
	InsideInformation     EUClass = "2.2"
	TotalVotingRights     EUClass = "2.5"
	AdditionalInformation EUClass = "3.1" // required by the laws of a Member State, and in no other class
)

// EUClasses are the classes that reports can have.
var EUClasses = []EUClass{AnnualReports, HalfYearReports, InsideInformation, TotalVotingRights, AdditionalInformation}

// EUClass returns the class of a report, or "" where it does not follow with certainty from
// type and categories: that of history before there was other relevant information, of a
// category that is not known, and of one that has reports of several classes, such as
// buy-backs. What is additional information beside one other class has that class.
func (r *Report) EUClass() EUClass {
	switch r.Type {
	case IP:
		return InsideInformation
	case OIR:
	default:
		return ""
	}
	var class EUClass
	for _, category := range r.Categories() {
		of := knownCategories[text.Fold(category)].class
		switch {
		case of == "":
			return ""
		case class == "" || class == AdditionalInformation:
			class = of
		case of != class && of != AdditionalInformation:
			return ""
		}
	}
	return class
}
