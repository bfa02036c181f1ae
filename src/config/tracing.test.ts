import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConfigError } from './env.ts';
import { type TracingVariables, tracingOf } from './tracing.ts';

const on = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/' };

const off: [what: string, read: TracingVariables][] = [
  ['no endpoint', { OTEL_SERVICE_NAME: 'crm', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }],
  ['a disabled SDK', { ...on, OTEL_SDK_DISABLED: 'TRUE', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }],
  ['no exporter', { ...on, OTEL_TRACES_EXPORTER: 'none' }],
];
for (const [what, read] of off) test(`traces are off with ${what}`, () => assert.equal(tracingOf(read), undefined));

test('the defaults are those of OpenTelemetry', () => {
  assert.deepEqual(tracingOf(on), {
    url: 'http://collector:4318/v1/traces',
    protocol: 'http/protobuf',
    headers: {},
    serviceName: 'record-data-service',
    attributes: {},
    sampler: 'parentbased_always_on',
    ratio: 1,
  });
});

test('the variables of traces take precedence, and values are percent-decoded', () => {
  const settings = tracingOf({
    ...on,
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://traces.example.com/in?x=1',
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
    OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/json',
    OTEL_EXPORTER_OTLP_HEADERS: 'a=1',
    OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'authorization=Bearer%20x, b = 2 ',
    OTEL_RESOURCE_ATTRIBUTES: 'service.name=crm,zone=eu%2C1',
    OTEL_TRACES_SAMPLER: 'traceidratio',
    OTEL_TRACES_SAMPLER_ARG: '0.25',
  });
  assert.deepEqual(settings, {
    url: 'https://traces.example.com/in?x=1',
    protocol: 'http/json',
    headers: { authorization: 'Bearer x', b: '2' },
    serviceName: 'crm',
    attributes: { 'service.name': 'crm', zone: 'eu,1' },
    sampler: 'traceidratio',
    ratio: 0.25,
  });
});

const refused: [name: keyof TracingVariables, value: string][] = [
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318'],
  ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'ftp://secret@collector'],
  ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc'],
  ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'http'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'secret'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'key=%zz'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'key=secret%0d%0ax: y'],
  ['OTEL_RESOURCE_ATTRIBUTES', '=secret'],
  ['OTEL_TRACES_EXPORTER', 'zipkin'],
  ['OTEL_TRACES_SAMPLER', 'jaeger_remote'],
  ['OTEL_TRACES_SAMPLER_ARG', '2'],
  ['OTEL_TRACES_SAMPLER_ARG', 'half'],
];
for (const [name, value] of refused)
  test(`${name}=${value} is refused in one line without the value`, () => {
    assert.throws(
      () => tracingOf({ ...on, [name]: value }),
      (error) => error instanceof ConfigError && error.message.startsWith(`${name}: must be`) && !/secret|\n/.test(error.message),
    );
  });
