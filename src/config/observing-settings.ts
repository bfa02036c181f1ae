import { z } from 'zod';
import { hostName, wholeNumber } from './setting-types.ts';

/** Settings of what shows the service's own work. */
export const observingSettings = {
  SLOW_QUERY_MS: {
    group: 'Logs and retention',
    is: 'a whole number of milliseconds, 0 for no line',
    meaning: 'Time from which on a query is logged at level warn, without its values. `0` logs none.',
    read: wholeNumber(0, 2_147_483_647).default(1_000),
  },
  METRICS_PORT: {
    group: 'Metrics',
    is: 'a whole number from 0 to 65535',
    meaning: 'Port of a listener for `GET /metrics` alone, without a token. `0` picks a free one, which the log names.',
    unset: 'there is no such listener',
    read: wholeNumber(0, 65_535).optional(),
  },
  METRICS_HOST: {
    group: 'Metrics',
    is: 'a host name or an address',
    meaning: 'Interface of that listener. Everything that reaches it may read the metrics.',
    read: hostName.default('127.0.0.1'),
  },
  METRICS_TOKEN: {
    group: 'Metrics',
    is: 'visible ASCII characters without spaces, 1024 at most',
    meaning: 'Token that opens `GET /metrics` on the main port, as `Authorization: Bearer …`. A secret.',
    unset: 'the main port has no such address',
    read: z
      .string()
      .regex(/^[!-~]{1,1024}$/)
      .optional(),
  },
  // The standard variables of OpenTelemetry are checked only if traces are on (`tracingOf`): they may be meant for other programs.
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    group: 'Traces',
    is: 'an http or https address',
    meaning: 'Base address of an OpenTelemetry collector; traces go to `/v1/traces` below it. Neither endpoint set: no traces.',
    unset: 'no traces',
    read: z.string().optional(),
  },
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: {
    group: 'Traces',
    is: 'an http or https address',
    meaning: 'Whole address that traces are sent to. It takes precedence.',
    unset: 'below `OTEL_EXPORTER_OTLP_ENDPOINT`',
    read: z.string().optional(),
  },
  OTEL_EXPORTER_OTLP_PROTOCOL: {
    group: 'Traces',
    is: 'http/protobuf or http/json',
    meaning: 'Form of the traces that are sent.',
    unset: '`http/protobuf`',
    read: z.string().optional(),
  },
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: {
    group: 'Traces',
    is: 'http/protobuf or http/json',
    meaning: 'The same, for traces alone.',
    unset: '`OTEL_EXPORTER_OTLP_PROTOCOL`',
    read: z.string().optional(),
  },
  OTEL_EXPORTER_OTLP_HEADERS: {
    group: 'Traces',
    is: 'name=value pairs, separated by commas and percent-encoded',
    meaning: 'Headers for the collector, for example its key.',
    unset: 'none',
    read: z.string().optional(),
  },
  OTEL_EXPORTER_OTLP_TRACES_HEADERS: {
    group: 'Traces',
    is: 'name=value pairs, separated by commas and percent-encoded',
    meaning: 'The same, for traces alone.',
    unset: '`OTEL_EXPORTER_OTLP_HEADERS`',
    read: z.string().optional(),
  },
  OTEL_TRACES_EXPORTER: {
    group: 'Traces',
    is: 'otlp or none',
    meaning: '`none` switches traces off.',
    unset: '`otlp`',
    read: z.string().optional(),
  },
  OTEL_TRACES_SAMPLER: {
    group: 'Traces',
    is: 'one of the standard samplers',
    meaning: 'Which traces are kept: `always_on`, `always_off`, `traceidratio`, or one of them behind `parentbased_`.',
    unset: '`parentbased_always_on`',
    read: z.string().optional(),
  },
  OTEL_TRACES_SAMPLER_ARG: {
    group: 'Traces',
    is: 'a number from 0 to 1',
    meaning: 'Share of the traces that a sampler by ratio keeps.',
    unset: '`1`',
    read: z.string().optional(),
  },
  OTEL_SERVICE_NAME: {
    group: 'Traces',
    is: 'a text',
    meaning: 'Name of the service in traces.',
    unset: '`record-data-service`',
    read: z.string().optional(),
  },
  OTEL_RESOURCE_ATTRIBUTES: {
    group: 'Traces',
    is: 'name=value pairs, separated by commas and percent-encoded',
    meaning: 'Further attributes of the process in traces.',
    unset: 'none',
    read: z.string().optional(),
  },
  OTEL_SDK_DISABLED: {
    group: 'Traces',
    is: 'true or false',
    meaning: '`true` switches traces off.',
    unset: '`false`',
    read: z.string().optional(),
  },
} as const;
