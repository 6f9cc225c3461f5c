curl 'BASE/api/v1/reports?type=IP&limit=5'
