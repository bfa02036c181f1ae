import {
  type Context,
  context,
  createContextKey,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { ExportResultCode, W3CTraceContextPropagator } from '@opentelemetry/core';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { TracingSettings } from '../../config/index.ts';
import type { ExportReports, RequestSpan, SpanAttributes, SpanOptions, Tracer } from './tracing.ts';

/** Spans that wait for their export; further ones are dropped. */
const MAX_WAITING_SPANS = 2_048;
/** Time of an export, its repetitions included, in milliseconds. The end of the process waits for one. */
const EXPORT_TIMEOUT_MS = 3_000;
/** Longest delay of a span before it is sent, in milliseconds. */
const EXPORT_INTERVAL_MS = 2_000;
/** Time that the end of the process waits for the last export, in milliseconds. */
const CLOSE_TIMEOUT_MS = 3_000;
const MAX_ATTRIBUTE_LENGTH = 256;

const NOT_EXPORTED = 'traces are not exported';

/** Key of the trace's part that this process makes. */
const scopeKey = createContextKey('scope');
/** Marks the work of a function, whose own requests carry the trace on. */

/** Makes a tracer that exports by OTLP over HTTP. Imported only if traces are on. Reference: operations.md#traces. */
export async function otlpTracer(settings: TracingSettings, version: string, reports: ExportReports): Promise<Tracer> {
  const { url, headers, protocol } = settings;
  const options = { url, headers, timeoutMillis: EXPORT_TIMEOUT_MS, concurrencyLimit: 2 };
  const { OTLPTraceExporter } =
    protocol === 'http/json'
      ? await import('@opentelemetry/exporter-trace-otlp-http')
      : await import('@opentelemetry/exporter-trace-otlp-proto');
  const exporter = new ReportingExporter(new OTLPTraceExporter(options), reports);
  const provider = new TracerProvider({
    resource: resourceFromAttributes({
      ...settings.attributes,
      'service.name': settings.serviceName,
      'service.version': version,
    }),
    sampler: samplerOf(settings),
    spanLimits: {
      attributeValueLengthLimit: MAX_ATTRIBUTE_LENGTH,
      attributeCountLimit: 32,
      eventCountLimit: 1,
      linkCountLimit: 1,
    },
    spanProcessors: [
      new BatchSpanProcessor({
        exporter,
        maxQueueSize: MAX_WAITING_SPANS,
        scheduledDelayMillis: EXPORT_INTERVAL_MS,
        exportTimeoutMillis: EXPORT_TIMEOUT_MS,
      }),
    ],
  });
  return new OtlpTracer(provider, exporter, version);
}

function samplerOf({ sampler, ratio }: TracingSettings): Sampler {
  const isParentBased = sampler.startsWith('parentbased_');
  const kind = isParentBased ? sampler.slice('parentbased_'.length) : sampler;
  const root =
    kind === 'always_on'
      ? new AlwaysOnSampler()
      : kind === 'always_off'
        ? new AlwaysOffSampler()
        : new TraceIdRatioBasedSampler(ratio);
  return isParentBased ? new ParentBasedSampler({ root }) : root;
}

/** Reports a collector that cannot be reached as a condition: one line when it begins, one when it ends. */
class ReportingExporter implements SpanExporter {
  readonly #exporter: SpanExporter;
  readonly #reports: ExportReports;
  #isGivenUp = false;

  constructor(exporter: SpanExporter, reports: ExportReports) {
    this.#exporter = exporter;
    this.#reports = reports;
  }

  export(...[spans, done]: Parameters<SpanExporter['export']>): void {
    if (this.#isGivenUp) {
      done({ code: ExportResultCode.FAILED });
      return;
    }
    this.#exporter.export(spans, (result) => {
      // The error is not logged: it may hold the address and the headers of the collector.
      if (result.code === ExportResultCode.FAILED) this.#reports.met(NOT_EXPORTED);
      else this.#reports.over({}, NOT_EXPORTED);
      done(result);
    });
  }

  shutdown(): Promise<void> {
    return this.#exporter.shutdown();
  }

  /** Drops what is not sent yet. */
  giveUp(): void {
    this.#isGivenUp = true;
  }
}

/** A request, or other work that begins the spans of this process. */
interface Scope {
  readonly span: Span;
  isOver: boolean;
}

const scopeOf = (of: Context) => of.getValue(scopeKey) as Scope | undefined;

class OtlpTracer implements Tracer {
  readonly #provider: TracerProvider;
  readonly #exporter: ReportingExporter;
  readonly #tracer: ReturnType<TracerProvider['getTracer']>;
  readonly #propagator = new W3CTraceContextPropagator();
  readonly #contexts = new AsyncLocalStorageContextManager();

  constructor(provider: TracerProvider, exporter: ReportingExporter, version: string) {
    this.#provider = provider;
    this.#exporter = exporter;
    this.#tracer = provider.getTracer('record-data-service', version);
    context.setGlobalContextManager(this.#contexts.enable());
  }

  inSpan<T>(name: string, attributes: SpanAttributes, work: () => T, { isRoot }: SpanOptions = {}): T {
    const active = isRoot ? ROOT_CONTEXT : context.active();
    const present = scopeOf(active);
    // Timers and queues that a request has started go on after it, and are no part of it.
    if (!isRoot && (present === undefined || present.isOver)) return work();
    const span = this.#tracer.startSpan(name, { attributes: { ...attributes } }, active);
    const scope = present ?? { span, isOver: false };
    const within = trace.setSpan(active.setValue(scopeKey, scope), span);
    return finishing(
      () => context.with(within, work),
      (isFailed) => {
        if (isRoot) scope.isOver = true;
        end(span, isFailed);
      },
    );
  }

  request(headers: Readonly<Record<string, string | string[] | undefined>>): RequestSpan {
    const parent = this.#propagator.extract(ROOT_CONTEXT, headers, headerGetter);
    const span = this.#tracer.startSpan('request', { kind: SpanKind.SERVER }, parent);
    const scope: Scope = { span, isOver: false };
    const within = trace.setSpan(parent, span).setValue(scopeKey, scope);
    return {
      run: (work) => context.with(within, work),
      end(name, attributes, isFailed) {
        scope.isOver = true;
        span.updateName(name);
        span.setAttributes({ ...attributes });
        end(span, isFailed);
      },
    };
  }

  annotate(name: string, value: string): void {
    const scope = scopeOf(context.active());
    if (scope && !scope.isOver) scope.span.setAttribute(name, value);
  }

  outgoing(): Readonly<Record<string, string>> | undefined {
    const active = context.active();
    if (scopeOf(active) === undefined) return undefined;
    const headers: Record<string, string> = {};
    this.#propagator.inject(active, headers, { set: (to, name, value) => Object.assign(to, { [name]: value }) });
    return headers;
  }

  async close(): Promise<void> {
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, CLOSE_TIMEOUT_MS);
    await Promise.race([this.#provider.shutdown().catch(() => {}), late]);
    clearTimeout(timer);
    this.#exporter.giveUp();
    context.disable();
  }
}

const headerGetter = {
  keys: (headers: object) => Object.keys(headers),
  get: (headers: Readonly<Record<string, string | string[] | undefined>>, name: string) => headers[name],
};

/** Runs work and calls `done` when it, or its promise, has ended. */
function finishing<T>(work: () => T, done: (isFailed: boolean) => void): T {
  let result: T;
  try {
    result = work();
  } catch (error) {
    done(true);
    throw error;
  }
  if (!(result instanceof Promise)) {
    done(false);
    return result;
  }
  // The same promise is returned: the span delays nobody.
  result.then(
    () => done(false),
    () => done(true),
  );
  return result;
}

function end(span: Span, isFailed: boolean): void {
  // Without the error's text, which may hold values.
  if (isFailed) span.setStatus({ code: SpanStatusCode.ERROR });
  span.end();
}
