{{- define "kaisched.labels" -}}
app.kubernetes.io/name: kaisched
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{/* What the program reads, with the server as the chart mounts it. */}}
{{- define "kaisched.config" -}}
{{ toYaml .Values.config }}
server:
  listen: 0.0.0.0:{{ .Values.port }}
{{- if .Values.tokenSecret }}
  token_file: /etc/kaisched/tokens/token
  usage_token_file: /etc/kaisched/tokens/usage-token
{{- end }}
{{- if .Values.tlsSecret }}
  certificate: /etc/kaisched/tls/tls.crt
  key: /etc/kaisched/tls/tls.key
{{- end }}
{{- end }}
