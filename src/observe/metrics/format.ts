/** The formats of Prometheus, by their content types. */
export const formats = {
  text: 'text/plain; version=0.0.4; charset=utf-8',
  openMetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
} as const;
export type Format = keyof typeof formats;

/** More of the header is not looked at. */
const MAX_LENGTH = 1_000;

/** Returns the format that an `Accept` header prefers: OpenMetrics only if it names it, and no less than plain text. */
export function formatFor(accept: string | undefined): Format {
  let openMetrics = 0;
  let text = 0;
  for (const part of (accept ?? '').slice(0, MAX_LENGTH).toLowerCase().split(',')) {
    const [type, ...parameters] = part.split(';').map((piece) => piece.trim());
    const quality = Number(parameters.find((one) => one.startsWith('q='))?.slice(2) ?? 1);
    if (type === 'application/openmetrics-text') openMetrics = Math.max(openMetrics, quality);
    else if (type === 'text/plain') text = Math.max(text, quality);
  }
  return openMetrics > 0 && openMetrics >= text ? 'openMetrics' : 'text';
}
