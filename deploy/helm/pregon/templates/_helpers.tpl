{{- define "pregon.name" -}}
{{- if contains "pregon" .Release.Name }}{{ .Release.Name }}{{ else }}{{ .Release.Name }}-pregon{{ end }}
{{- end }}

{{/* The labels that select the pods of a role. */}}
{{- define "pregon.selector" -}}
app.kubernetes.io/name: pregon
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .role }}
{{- end }}

{{/* The labels of every object. */}}
{{- define "pregon.labels" -}}
app.kubernetes.io/name: pregon
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "pregon.image" -}}
{{ .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ .tag }}{{ end }}
{{- end }}

{{- define "pregon.baseURL" -}}
{{ .Values.baseURL | default "http://127.0.0.1:8080" }}
{{- end }}

{{- define "pregon.serviceAccount" -}}
{{- if .Values.serviceAccount.create }}{{ .Values.serviceAccount.name | default (include "pregon.name" .) }}
{{- else }}{{ .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{/* The roles that have a Deployment, and the one that serves clients. */}}
{{- define "pregon.roles" -}}
{{ .Values.separateRoles | ternary (list "serve" "ingest" "deliver") (list "all") | toJson }}
{{- end }}
{{- define "pregon.serving" -}}
{{ .Values.separateRoles | ternary "serve" "all" }}
{{- end }}

{{/* The name of the objects of a role. */}}
{{- define "pregon.roleName" -}}
{{ include "pregon.name" .root }}{{ if has .role (list "ingest" "deliver") }}-{{ .role }}{{ end }}
{{- end }}
