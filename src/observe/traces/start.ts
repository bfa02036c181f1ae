import type { TracingSettings } from '../../config/index.ts';
import { serviceVersion } from '../../kernel/version.ts';
import { type ExportReports, type Tracer, useTracer } from './tracing.ts';

/** Switches traces on in this process. Without it, none of OpenTelemetry is loaded. */
export async function startTraces(settings: TracingSettings, reports: ExportReports): Promise<Tracer> {
  const { otlpTracer } = await import('./otlp.ts');
  const tracer = await otlpTracer(settings, serviceVersion(), reports);
  useTracer(tracer);
  return tracer;
}

/** Sends what is left, within a bound, and switches traces off. Never rejects. */
export async function stopTraces(tracer: Tracer): Promise<void> {
  useTracer(null);
  await tracer.close();
}
