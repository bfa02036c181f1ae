import type { Me } from '../../../src/console/protocol/protocol.ts';
import { LanguageButton } from '../choices/language-button.tsx';
import { words } from '../words/index.ts';
import styles from './sign-in.module.css';
import { SignInForm } from './sign-in-form.tsx';

/** The whole page if the user is not signed in. */
export function SignInPage({ appId, onDone }: { appId: string | null; onDone: (me: Me, appId: string) => void }) {
  return (
    <div className={styles.page}>
      <title>{words.signIn.title}</title>
      <main id="main" className={styles.main}>
        <p className={styles.product}>
          <span className={styles.mark} aria-hidden="true" />
          {words.product}
        </p>
        <div className={`card ${styles.card}`}>
          <h1>{words.signIn.title}</h1>
          <p className="hint">{words.signIn.intro}</p>
          <SignInForm appId={appId} onDone={onDone} />
        </div>
        <LanguageButton />
      </main>
    </div>
  );
}
