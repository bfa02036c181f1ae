import type { Command } from 'commander';
import { OperatorError } from '../../kernel/operator-error.ts';
import { isoText } from '../../kernel/time.ts';
import type { Administration } from '../../systems/index.ts';
import type { Actions, Print } from '../terminal/actions.ts';

/** Result of one check. */
interface Finding {
  /** The application id, or the place of an unregistered store. */
  readonly system: string;
  readonly check: string;
  readonly outcome: 'ok' | 'failed';
  readonly detail?: string;
}

/** A read-only check. */
type Check = (administration: Administration) => AsyncGenerator<Finding>;

/** In the order of the output. */
const checks: readonly Check[] = [stores, strangers];

/** `check`. */
export function addCheckCommand(program: Command, { withAdministration }: Actions, print: Print): void {
  program
    .command('check')
    .description(
      'compare each system with the registry and read its whole store, changing nothing; exit code 1 if something is wrong',
    )
    .option('--json', 'print one JSON object a line')
    .action(async ({ json }: { json?: true }) => {
      let failed = 0;
      await withAdministration(async (administration) => {
        for (const check of checks)
          for await (const finding of check(administration)) {
            if (finding.outcome === 'failed') failed++;
            print(json ? JSON.stringify(finding) : Object.values(finding).join('\t'));
          }
      });
      if (failed > 0) throw new OperatorError(`${failed} ${failed === 1 ? 'check' : 'checks'} failed`);
    });
}

async function* stores(administration: Administration): AsyncGenerator<Finding> {
  for await (const { appId, name, place, refused, missingSince, node, isUnreachable } of administration.storeStates()) {
    const found = { system: appId, check: 'store' };
    if (isUnreachable) {
      yield { ...found, outcome: 'failed', detail: `the node ${node} cannot be reached` };
      continue;
    }
    // A store once found damaged may be intact by now; reading it decides.
    const damage = refused && refused.why !== 'damaged' ? null : await administration.verifyStore(name);
    if (damage !== null) yield { ...found, outcome: 'failed', detail: `${place} is damaged: ${damage}` };
    else if (refused && refused.why !== 'damaged') yield { ...found, outcome: 'failed', detail: refused.message };
    else if (missingSince === null) yield { ...found, outcome: 'ok' };
    else yield { ...found, outcome: 'ok', detail: `writes since ${isoText(missingSince)} may be missing` };
  }
}

async function* strangers(administration: Administration): AsyncGenerator<Finding> {
  for (const { name, place } of await administration.unregisteredStores())
    yield {
      system: name ?? place,
      check: 'store',
      outcome: 'failed',
      detail: `${place} is not registered: system adopt takes it in`,
    };
}
