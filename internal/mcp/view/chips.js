// typeChips returns buttons that select one type or all.
function typeChips(chosen, choose) {
  const chip = (type, label) => button(`type ${type}`, label, () => choose(type),
    { class: `chip ${typeClass(type)}`, 'aria-pressed': String(chosen === type), title: type && t(type) })
  return el('div', { class: 'chips', role: 'group', 'aria-label': t('type') },
    chip('', t('all')),
    TYPES.map((type) => chip(type, [el('b', {}, type), ' ', el('span', { class: 'meaning' }, t(type))])))
}
