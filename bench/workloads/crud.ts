import type { BenchContext } from '../support/context.ts';
import { declareTable, fill, serviceTarget } from '../support/fill.ts';
import { startPeer } from '../support/peer.ts';
import { count, milliseconds, printTable, ratio, verdict } from '../support/report.ts';
import type { Target } from '../support/target.ts';
import { connections, measureInTurn, operations } from './operations.ts';

/** The six operations at 32 connections: service and bare Fastify alternately, in rounds. */
export async function crud(context: BenchContext): Promise<void> {
  const { records = 100_000, seconds, rounds, scratch } = context;
  const service = await scratch.service(await scratch.directory());
  await declareTable(service);
  const [own, bare] = [serviceTarget(service), await startPeer(scratch)];
  const ids = new Map<Target, string[]>();
  for (const target of [own, bare]) ids.set(target, await fill(target, records));
  const measured = await measureInTurn(context, ids);
  const rows = operations.map((operation) => {
    const [ours, theirs] = [measured(operation, own), measured(operation, bare)];
    const share = ours.rate / theirs.rate;
    const target =
      operation.target === undefined ? ['–', ''] : [`≥ ${ratio(operation.target)}`, verdict(share >= operation.target)];
    const latencies = [milliseconds(ours.p99), milliseconds(theirs.p99)];
    return [operation.name, count(ours.rate), count(theirs.rate), ratio(share), ...target, ...latencies];
  });
  const heading = `crud: ${count(records)} records of 12 fields, ${connections} connections, medians of ${rounds} × ${seconds} s`;
  printTable(heading, ['operation', 'service req/s', 'bare req/s', 'ratio', 'target', '', 'p99', 'bare p99'], rows);
}
