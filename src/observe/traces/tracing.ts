/** Names and values of a span: short texts and numbers of the service, never of a record. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

/** What learns whether the collector can be reached: `Conditions`. */
export interface ExportReports {
  met(what: string): void;
  over(about: object, what: string): void;
}

/** How a span differs from a step of the present request. */
export interface SpanOptions {
  /** Whether it begins a trace of its own: work that no request waits for. */
  readonly isRoot?: true;
}

/** What makes spans, if traces are exported (otlp.ts). */
export interface Tracer {
  /**
   * Runs work in a span that ends when the work does, and that an error marks. A step outside of a request or of a root span that still runs makes
   * none.
   */
  inSpan<T>(name: string, attributes: SpanAttributes, work: () => T, options?: SpanOptions): T;
  /** Begins the span of a request, as part of the trace that its headers name. */
  request(headers: Readonly<Record<string, string | string[] | undefined>>): RequestSpan;
  /** Adds an attribute to the span of the request that is being answered. */
  annotate(name: string, value: string): void;
  /** Returns the headers by which a request to elsewhere carries the present trace on; `undefined` outside of a request. */
  outgoing(): Readonly<Record<string, string>> | undefined;
  /** Sends what is left, within a bound, and ends. Never rejects. */
  close(): Promise<void>;
}

/** The span of a request, from its arrival to the end of its answer. */
export interface RequestSpan {
  /** Runs work whose spans belong to this one. */
  run(work: () => void): void;
  end(name: string, attributes: SpanAttributes, isFailed: boolean): void;
}

let active: Tracer | null = null;

/** Sets what makes spans in this process; `null`: nothing does. */
export function useTracer(tracer: Tracer | null): void {
  active = tracer;
}

/** The present tracer; `null` if traces are off. */
export const tracerInUse = (): Tracer | null => active;

/** Runs work in a span; without a tracer it only calls it. */
export function traced<T>(name: string, attributes: SpanAttributes, work: () => T, options?: SpanOptions): T {
  return active === null ? work() : active.inSpan(name, attributes, work, options);
}

/** Adds an attribute to the span of the present request. */
export function annotateRequest(name: string, value: string): void {
  active?.annotate(name, value);
}
