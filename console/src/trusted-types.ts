interface TrustedTypes {
  createPolicy(name: string, rules: { createHTML(text: string): string | null }): unknown;
}

/**
 * Lets a text become markup in one case: the empty one, by which React Aria clears its live region. All else stays refused, as the page's
 * `require-trusted-types-for` has it.
 */
export function allowEmptyMarkup(): void {
  const { trustedTypes } = globalThis as { readonly trustedTypes?: TrustedTypes };
  trustedTypes?.createPolicy('default', { createHTML: (text) => (text === '' ? '' : null) });
}
