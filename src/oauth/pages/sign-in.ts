import { escapeHtml } from '../../kernel/html.ts';
import type { Language } from '../../kernel/language.ts';
import { LOCK_MINUTES } from '../../users/index.ts';
import { aboutClient, nameOf, type RequestingClient } from './client.ts';
import { alert, page } from './page.ts';
import { type SignInFault, texts } from './texts.ts';

/** Contents of the sign-in page. */
export interface SignInPage {
  readonly language: Language;
  readonly system: string;
  readonly asking: RequestingClient;
  /** Initial value of the field. */
  readonly username: string;
  readonly fault?: SignInFault | undefined;
}

/** Renders the page where a user signs in for a program. It shows the names of system and program, and where the browser goes next. */
export function signInPage({ language, system, asking, username, fault }: SignInPage): string {
  const { signIn, signInFaults, cancel } = texts[language];
  const wrong = fault === undefined ? '' : ' aria-invalid="true" aria-describedby="fault"';
  // The first empty field gets the focus.
  const focus = (isHere: boolean) => (isHere ? ' autofocus' : '');
  const hasName = username !== '';
  return page(
    { language, system, title: signIn.title, hasSwitch: true },
    [
      `<p>${signIn.lead(nameOf(asking, language))}</p>`,
      aboutClient(asking, language),
      alert(fault && signInFaults[fault](LOCK_MINUTES)),
      // A relative URL, which works behind any proxy path, with the language.
      `<form method="post" action="?lang=${language}" accept-charset="utf-8">`,
      `<label for="username">${escapeHtml(signIn.name)}</label>`,
      `<input id="username" name="username" type="text" dir="auto" autocomplete="username" autocapitalize="none" spellcheck="false" maxlength="1000" required value="${escapeHtml(username)}"${focus(!hasName)}${wrong}>`,
      `<label for="password">${escapeHtml(signIn.password)}</label>`,
      `<input id="password" name="password" type="password" dir="ltr" autocomplete="current-password" required${focus(hasName)}${wrong}>`,
      `<button type="submit" name="decision" value="sign-in">${escapeHtml(signIn.submit)}</button>`,
      `<button type="submit" name="decision" value="cancel" formnovalidate>${escapeHtml(cancel)}</button>`,
      '</form>',
    ].join(''),
  );
}
