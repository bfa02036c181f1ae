import { catalogue } from '../../../errors/catalogue.ts';
import { ServiceError } from '../../../errors/fail.ts';
import type { Conflict } from '../../protocol/protocol.ts';

/** Others have changed meanwhile what a user changes (409). The router sends what it carries along. */
export class ConflictError extends ServiceError {
  readonly conflict: Conflict;

  constructor(conflict: Conflict) {
    super('changedMeanwhile', catalogue.changedMeanwhile.text());
    this.conflict = conflict;
  }
}
