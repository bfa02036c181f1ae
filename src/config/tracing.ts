import { ConfigError } from './env.ts';

/** Where traces go. Holds secrets: headers, and maybe the address. Reference: operations.md#traces. */
export interface TracingSettings {
  /** The whole address, path included. */
  readonly url: string;
  readonly protocol: 'http/protobuf' | 'http/json';
  readonly headers: Readonly<Record<string, string>>;
  readonly serviceName: string;
  /** Attributes of the process. */
  readonly attributes: Readonly<Record<string, string>>;
  readonly sampler: string;
  /** Share of the traces that are kept, for the samplers by ratio. */
  readonly ratio: number;
}

/** The standard variables of OpenTelemetry, as they are set. */
export interface TracingVariables {
  readonly OTEL_SDK_DISABLED?: string | undefined;
  readonly OTEL_EXPORTER_OTLP_ENDPOINT?: string | undefined;
  readonly OTEL_EXPORTER_OTLP_TRACES_ENDPOINT?: string | undefined;
  readonly OTEL_EXPORTER_OTLP_PROTOCOL?: string | undefined;
  readonly OTEL_EXPORTER_OTLP_TRACES_PROTOCOL?: string | undefined;
  readonly OTEL_EXPORTER_OTLP_HEADERS?: string | undefined;
  readonly OTEL_EXPORTER_OTLP_TRACES_HEADERS?: string | undefined;
  readonly OTEL_SERVICE_NAME?: string | undefined;
  readonly OTEL_RESOURCE_ATTRIBUTES?: string | undefined;
  readonly OTEL_TRACES_EXPORTER?: string | undefined;
  readonly OTEL_TRACES_SAMPLER?: string | undefined;
  readonly OTEL_TRACES_SAMPLER_ARG?: string | undefined;
}

const samplers: ReadonlySet<string> = new Set(
  ['always_on', 'always_off', 'traceidratio'].flatMap((name) => [name, `parentbased_${name}`]),
);

/**
 * Parses the settings of traces. Without an endpoint, or if the SDK is disabled, traces are off and the other variables are not read: they may be
 * meant for other programs.
 * @throws ConfigError with one line, without the value
 */
export function tracingOf(read: TracingVariables): TracingSettings | undefined {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: base, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: own } = read;
  const isOff = read.OTEL_SDK_DISABLED?.toLowerCase() === 'true' || read.OTEL_TRACES_EXPORTER === 'none';
  if (isOff || (base === undefined && own === undefined)) return undefined;
  if (read.OTEL_TRACES_EXPORTER !== undefined && read.OTEL_TRACES_EXPORTER !== 'otlp')
    throw new ConfigError('OTEL_TRACES_EXPORTER: must be otlp or none');
  const url =
    own === undefined
      ? `${httpUrl('OTEL_EXPORTER_OTLP_ENDPOINT', base ?? '').replace(/\/+$/, '')}/v1/traces`
      : httpUrl('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', own);
  const sampler = read.OTEL_TRACES_SAMPLER ?? 'parentbased_always_on';
  if (!samplers.has(sampler)) throw new ConfigError(`OTEL_TRACES_SAMPLER: must be one of ${[...samplers].join(', ')}`);
  const attributes = pairs(read, ['OTEL_RESOURCE_ATTRIBUTES']);
  return Object.freeze({
    url,
    protocol: protocolOf(read),
    headers: pairs(read, ['OTEL_EXPORTER_OTLP_TRACES_HEADERS', 'OTEL_EXPORTER_OTLP_HEADERS']),
    serviceName: read.OTEL_SERVICE_NAME ?? attributes['service.name'] ?? 'record-data-service',
    attributes,
    sampler,
    ratio: ratioOf(read),
  });
}

function httpUrl(name: string, text: string): string {
  const url = URL.parse(text);
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') throw new ConfigError(`${name}: must be an http or https address`);
  return text;
}

function protocolOf(read: TracingVariables): TracingSettings['protocol'] {
  const isOwn = read.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL !== undefined;
  const name = isOwn ? 'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL' : 'OTEL_EXPORTER_OTLP_PROTOCOL';
  const protocol = read[name] ?? 'http/protobuf';
  if (protocol !== 'http/protobuf' && protocol !== 'http/json')
    throw new ConfigError(`${name}: must be http/protobuf or http/json`);
  return protocol;
}

function ratioOf({ OTEL_TRACES_SAMPLER_ARG: text }: TracingVariables): number {
  if (text === undefined) return 1;
  const ratio = Number(text);
  if (text.trim() === '' || !(ratio >= 0 && ratio <= 1))
    throw new ConfigError('OTEL_TRACES_SAMPLER_ARG: must be a number from 0 to 1');
  return ratio;
}

/** A name as a header may have it; names of attributes have dots, too. */
const pairForm = /^\s*([A-Za-z0-9._/-]{1,255})\s*=\s*([^\r\n\0]*?)\s*$/;

/** Parses the first of the variables that is set: `name=value,name=value`, values percent-encoded. */
function pairs(read: TracingVariables, names: readonly (keyof TracingVariables)[]): Readonly<Record<string, string>> {
  const name = names.find((one) => read[one] !== undefined);
  if (name === undefined) return {};
  const found = new Map<string, string>();
  for (const item of (read[name] ?? '').split(',')) {
    if (item.trim() === '') continue;
    const [, key, value = ''] = pairForm.exec(item) ?? [];
    try {
      if (key !== undefined) found.set(key, decodeURIComponent(value));
    } catch {
      throw malformed(name);
    }
    if (key === undefined || /[\r\n\0]/.test(found.get(key) ?? '')) throw malformed(name);
  }
  return Object.freeze(Object.fromEntries(found));
}

const malformed = (name: string) => new ConfigError(`${name}: must be name=value pairs, separated by commas and percent-encoded`);
