const response = await fetch('BASE/api/v1/reports?type=IP&limit=5')
for (const report of (await response.json()).data) {
  console.log(report.company_name, report.title)
}
