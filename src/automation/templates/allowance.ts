import { limits } from '../../kernel/limits.ts';
import { ActionFailed } from '../actions/action.ts';

/** Characters that templates of one run may come to: one that names a long field many times would else fill the memory. */
const MAX_LENGTH = limits.bodyBytes;

/** What templates may come to together: those of a run, those of all actions of a preview. */
export class TemplateAllowance {
  #left: number = MAX_LENGTH;

  /** @throws ActionFailed where there is not enough left */
  spend(characters: number): void {
    this.#left -= characters;
    if (this.#left < 0) throw new ActionFailed(`The templates come to more than ${MAX_LENGTH} characters.`);
  }
}
