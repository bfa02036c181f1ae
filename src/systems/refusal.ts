import { appIdPattern, keyForm, keyPattern } from '../kernel/credentials.ts';
import { OperatorError } from '../kernel/operator-error.ts';

/** Why an action of the operator was refused, in one line. */
export class AdministrationError extends OperatorError {}

/** @throws AdministrationError */
export function refuse(why: string): never {
  throw new AdministrationError(why);
}

/** @throws AdministrationError where it is not fit, as the others of these do */
export function checkAppId(appId: string): string {
  return appIdPattern.test(appId) ? appId : refuse('an application id has 1 to 64 letters, digits, - or _');
}

/** Names are printed in lists, one a line. */
export function checkName(name: string): string {
  return /^[^\p{C}]{1,100}$/u.test(name) ? name : refuse('a name has 1 to 100 characters, none of them a control character');
}

export function checkKey(key: string): string {
  return keyPattern.test(key) ? key : refuse(`a key has ${keyForm}`);
}

/** What an operator typed, fit for one line. */
export function printable(text: string): string {
  return text.slice(0, 100).replace(/\p{C}/gu, '?');
}
