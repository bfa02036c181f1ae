/** VitePress' own theme with fonts of the system, and a line above pages that exist in the other language. */
import { useData, withBase } from 'vitepress';
import theme from 'vitepress/theme-without-fonts';
import { defineComponent, h } from 'vue';
import { inOtherLanguage } from '../../src/words.ts';
import './style.css';

const OtherLanguage = defineComponent(() => {
  const { frontmatter } = useData();
  return () => {
    const place = frontmatter.value.otherLanguage as string | undefined;
    if (place === undefined) return null;
    const lang = place.startsWith('he/') ? 'he' : 'en';
    const attributes = {
      href: withBase(`/${place.replace(/\.md$/, '.html')}`),
      hreflang: lang,
      lang,
      dir: lang === 'he' ? 'rtl' : 'ltr',
    };
    return h('p', { class: 'other-language' }, h('a', attributes, inOtherLanguage[lang]));
  };
});

export default {
  extends: theme,
  Layout: () => h(theme.Layout, null, { 'doc-before': () => h(OtherLanguage) }),
};
