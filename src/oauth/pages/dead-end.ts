import { escapeHtml } from '../../kernel/html.ts';
import type { Language } from './language.ts';
import { page } from './page.ts';
import { type DeadEnd, texts } from './texts.ts';

/**
 * A page that says why it does not go on.
 * @param detail what the program did wrong, for who writes it
 */
export function deadEndPage(language: Language, why: DeadEnd, detail?: string): string {
  const [title, text] = texts[language].ends[why];
  const technical = detail === undefined ? '' : `<p class="small" lang="en" dir="ltr"><code>${escapeHtml(detail)}</code></p>`;
  return page({ language, title, hasSwitch: false }, `<div role="alert">${escapeHtml(text)}</div>${technical}`);
}
