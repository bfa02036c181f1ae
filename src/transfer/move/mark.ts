import { OperatorError } from '../../kernel/operator-error.ts';
import { isoText } from '../../kernel/time.ts';
import type { Registry } from '../../storage/registry.ts';

const places = { postgres: 'PostgreSQL', embedded: 'the embedded store' } as const;
const settings = { postgres: 'set DATABASE_URL', embedded: 'unset DATABASE_URL' } as const;

/** @throws OperatorError where the systems of a registry were moved: what it has is an old copy */
export function refuseMoved(registry: Registry): void {
  const mark = registry.moved();
  if (!mark) return;
  const at = isoText(mark.at).slice(0, 10);
  throw new OperatorError(
    `these systems were moved to ${places[mark.to]} on ${at}; ${settings[mark.to]}, or run record-service move --undo-mark`,
  );
}
