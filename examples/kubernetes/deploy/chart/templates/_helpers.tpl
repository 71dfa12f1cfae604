{{- define "kaisched.labels" -}}
app.kubernetes.io/name: kaisched
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{/* Of the pods on every node: not those of the service. */}}
{{- define "kaisched.nodeLabels" -}}
app.kubernetes.io/name: kaisched-node
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
{{- if .Values.extender.enabled }}
{{- if not (or .Values.extender.insecure (hasKey .Values.extender.settings "client_ca")) }}
{{- fail "extender: whoever reaches it can bind pods: set extender.settings.client_ca, or extender.insecure" }}
{{- end }}
extender:
  listen: 0.0.0.0:{{ .Values.extender.port }}
{{- if .Values.extender.tlsSecret }}
  certificate: /etc/kaisched/extender-tls/tls.crt
  key: /etc/kaisched/extender-tls/tls.key
{{- end }}
{{- with .Values.extender.settings }}
{{ toYaml . | indent 2 }}
{{- end }}
{{- end }}
{{- if .Values.reservation.enabled }}
sharing:
  image: {{ .Values.reservation.image | default (printf "%s:%s" .Values.image.repository (.Values.image.tag | default .Chart.AppVersion)) | quote }}
  namespace: {{ .Values.reservation.namespace }}
{{- with .Values.reservation.settings }}
{{ toYaml . | indent 2 }}
{{- end }}
{{- end }}
{{- if .Values.suspendedJobs }}
suspended_jobs: start
{{- end }}
{{- if .Values.scaling.enabled }}
scaling:
  image: {{ .Values.scaling.image | quote }}
  namespace: {{ .Values.scaling.namespace }}
{{- with .Values.scaling.settings }}
{{ toYaml . | indent 2 }}
{{- end }}
{{- end }}
{{- if .Values.webhook.enabled }}
webhook:
  listen: 0.0.0.0:{{ .Values.webhook.port }}
  certificate: /etc/kaisched/webhook-tls/tls.crt
  key: /etc/kaisched/webhook-tls/tls.key
{{- if .Values.node.enabled }}
{{- if not (hasKey .Values.webhook.settings "library") }}
  library: {{ .Values.node.library | quote }}
{{- end }}
{{- if and .Values.node.agent.enabled (not (hasKey .Values.webhook.settings "ledgers")) }}
  ledgers: {{ .Values.node.state }}/ledgers
{{- end }}
{{- end }}
{{- with .Values.webhook.settings }}
{{ toYaml . | indent 2 }}
{{- end }}
{{- end }}
{{- end }}
