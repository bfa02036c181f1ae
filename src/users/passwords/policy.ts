// NUL: no login could bring it (docs/decisions.md "Records").
const rules = [/^[^\0]{8,1000}$/u, /\p{Ll}/u, /\p{Lu}/u, /\p{Nd}/u];

/** SPEC "Login and session" 4: at least 8 characters, a lower-case letter, an upper-case letter and a digit. */
export function meetsPolicy(password: string): boolean {
  return password.isWellFormed() && rules.every((rule) => rule.test(password));
}
