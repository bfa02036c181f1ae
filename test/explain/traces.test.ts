/** OpenTelemetry traces, as a collector on this machine receives them. Reference: operations.md#traces. */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Json } from '../support/records.ts';
import { type ServiceProcess, startServiceProcess } from '../support/service-process.ts';

const SECRET = 'qzsecretqz';
const PARENT = 'b7ad6b7169203331';

interface Span {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly attributes: ReadonlyMap<string, Json>;
  readonly isFailed: boolean;
}

/** A collector that keeps the spans it receives, and an address that a function sends a request to. */
class Collector {
  readonly spans: Span[] = [];
  readonly texts: string[] = [];
  readonly headers: IncomingMessage['headers'][] = [];
  readonly resources: Json[] = [];
  readonly called: IncomingMessage['headers'][] = [];
  readonly #server: Server = createServer((request, response) => void this.#answer(request, response.end.bind(response)));

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async #answer(request: IncomingMessage, answer: (text: string) => void): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    answer('{}');
    if (request.url === '/hook') this.called.push(request.headers);
    if (request.url !== '/v1/traces') return;
    const text = Buffer.concat(chunks).toString();
    this.texts.push(text);
    this.headers.push(request.headers);
    if (request.headers['content-type'] !== 'application/json') return;
    for (const { resource, scopeSpans } of JSON.parse(text).resourceSpans) {
      this.resources.push(resource);
      for (const { spans } of scopeSpans) this.spans.push(...spans.map(spanOf));
    }
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

const plainValueOf = (value: Json) => value.stringValue ?? value.intValue ?? value.boolValue ?? value.doubleValue;
const attributesOf = (list: Json): ReadonlyMap<string, Json> =>
  new Map(list.map(({ key, value }: Json) => [key, plainValueOf(value)]));

function spanOf({ name, traceId, spanId, parentSpanId, attributes, status }: Json): Span {
  return { name, traceId, spanId, parentSpanId, attributes: attributesOf(attributes), isFailed: status?.code === 2 };
}

describe('traces', () => {
  const collector = new Collector();
  let service: ServiceProcess;
  let functions: string;

  before(async () => {
    const endpoint = await collector.listen();
    functions = join(await mkdtemp(join(tmpdir(), 'traces-')), 'functions');
    await mkdir(functions, { recursive: true });
    await writeFile(
      join(functions, 'calling.mjs'),
      `export default async ({ system }) => {
        await system.create('Traced', { Name: '${SECRET}' });
        await fetch('${endpoint}/hook');
        return 1;
      };`,
    );
    service = await startServiceProcess({
      env: {
        OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
        OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
        OTEL_EXPORTER_OTLP_HEADERS: 'x-collector-key=abc%20def',
        OTEL_SERVICE_NAME: 'crm-eu',
        OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment=test',
        FUNCTIONS_DIR: functions,
      },
    });
    await sendAll();
  });
  after(async () => {
    collector.close();
    await rm(join(functions, '..'), { recursive: true, force: true });
  });

  const traceOf = (digit: string) => digit.repeat(32);
  const within = (traceId: string, flags = '01') => ({ headers: { traceparent: `00-${traceId}-${PARENT}-${flags}` } });

  /** Sends every request, and ends the service: what is left is sent then. */
  async function sendAll(): Promise<void> {
    const call = service.call.bind(service);
    const statuses = [
      (await call('POST', '/platform/classes/Traced', { body: { Name: SECRET } })).status,
      (await call('GET', '/platform/classes/Traced', { query: { where: { Name: SECRET } }, ...within(traceOf('1')) })).status,
      (await call('POST', `/functions/${service.appId}/calling`, { body: {}, ...within(traceOf('2')) })).status,
      (await call('GET', `/platform/nothing/${SECRET}`, within(traceOf('3')))).status,
      (await call('GET', '/platform/schemas', within(traceOf('4'), '00'))).status,
      (await call('GET', '/platform/roles', { headers: { traceparent: 'nonsense' } })).status,
    ];
    assert.deepEqual(statuses, [201, 200, 200, 404, 200, 200]);
    assert.equal(await service.stop(), 0);
  }

  function spanWhere(wanted: (span: Span) => boolean): Span {
    const found = collector.spans.find(wanted);
    return found ?? assert.fail(`no such span among ${JSON.stringify(collector.spans.map(({ name }) => name))}`);
  }

  const childrenOf = (span: Span) => collector.spans.filter(({ parentSpanId }) => parentSpanId === span.spanId);

  test('a request is one trace: the request and its steps, as part of the trace that traceparent names', () => {
    const request = spanWhere(({ traceId, name }) => traceId === traceOf('1') && name.startsWith('GET'));
    assert.equal(request.name, 'GET /platform/classes/:className');
    assert.equal(request.parentSpanId, PARENT);
    assert.deepEqual(Object.fromEntries(request.attributes), {
      'http.request.method': 'GET',
      'http.route': '/platform/classes/:className',
      'http.response.status_code': 200,
      'rds.system': service.appId,
    });
    assert.deepEqual(
      childrenOf(request).map(({ name }) => name),
      ['authorise', 'compile', 'store.find', 'encode'],
    );
    const write = spanWhere(({ name }) => name === 'POST /platform/classes/:className');
    assert.notEqual(write.traceId, traceOf('1'));
    assert.ok(childrenOf(write).some(({ name }) => name === 'store.write'));
  });

  test('a function is a span, and its own requests carry the trace on', () => {
    const span = spanWhere(({ name }) => name === 'function calling');
    assert.equal(span.traceId, traceOf('2'));
    assert.equal(collector.called.length, 1);
    assert.equal(collector.called[0]?.traceparent, `00-${traceOf('2')}-${span.spanId}-01`);
    assert.ok(childrenOf(span).some(({ name }) => name === 'store.write'));
  });

  test('a refusal is no failure; an unknown address has no route', () => {
    const span = spanWhere(({ traceId }) => traceId === traceOf('3'));
    assert.equal(span.name, 'GET');
    assert.equal(span.attributes.has('http.route'), false);
    assert.equal(span.isFailed, false);
  });

  test('a malformed traceparent begins a trace, and one that is not sampled leaves none', () => {
    assert.equal(spanWhere(({ name }) => name === 'GET /platform/roles').parentSpanId, undefined);
    assert.ok(collector.spans.every(({ traceId }) => traceId !== traceOf('4')));
  });

  test('headers, name and attributes are those of the settings; no value, id or credential is in a trace', () => {
    assert.equal(collector.headers[0]?.['x-collector-key'], 'abc def');
    const attributes = attributesOf(collector.resources[0].attributes);
    assert.equal(attributes.get('service.name'), 'crm-eu');
    assert.equal(attributes.get('deployment.environment'), 'test');
    for (const text of collector.texts)
      assert.doesNotMatch(text, new RegExp(`${SECRET}|${service.masterKey}|${service.apiKey}|objectId`));
    assert.doesNotMatch(service.output(), /abc def|x-collector-key/);
  });
});

test('a collector that is away delays nothing, and is told of once', async () => {
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9', LOG_LEVEL: 'info' };
  const service = await startServiceProcess({ env });
  for (let n = 0; n < 100; n++) assert.equal((await service.call('GET', '/platform/roles')).status, 200);
  const began = performance.now();
  assert.equal(await service.stop(), 0);
  assert.ok(performance.now() - began < 9_000);
  assert.ok((service.output().match(/traces are not exported/g) ?? []).length <= 2, service.output());
});

test('the start is refused in one line for an unknown protocol', async () => {
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' };
  await assert.rejects(startServiceProcess({ env }), (error: Error) => {
    const lines = error.message.trim().split('\n').slice(1);
    assert.equal(lines.length, 1, error.message);
    assert.match(lines[0] ?? '', /OTEL_EXPORTER_OTLP_PROTOCOL: must be http\/protobuf or http\/json/);
    return true;
  });
});
