"""Where C++ sources can be mutated, and how: the operators of mutation testing on a tree-sitter syntax tree.

A site is one change of one place in the body of a function. Constant expressions (constexpr, static_assert, template
arguments, array bounds, case labels, default arguments) are left alone: the choice of the mutant is made at run time.
"""

import hashlib
import re
from dataclasses import dataclass

import tree_sitter
import tree_sitter_cpp

LANGUAGE = tree_sitter.Language(tree_sitter_cpp.language())

OPERATORS = {
    "boundary": "a comparison takes or loses the equal case",
    "swap": "a comparison looks the other way",
    "negate": "a condition is negated",
    "logical": "&& and || are exchanged",
    "arithmetic": "an arithmetic operator is exchanged for its opposite",
    "constant": "a number is another number, a truth value the other",
    "remove": "a call or an assignment is removed",
    "fallthrough": "an early return, a break or a continue is removed",
    "return": "a returned value is another",
    "extreme": "min and max, any and all are exchanged",
    "order": "a sort goes the other way",
}

BOUNDARY = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": ">=", "!=": "<"}
SWAP = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
NEGATED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
LOGICAL = {"&&": "||", "||": "&&", "and": "or", "or": "and"}
ARITHMETIC = {"+": "-", "-": "+", "*": "/", "/": "*", "%": "*", "<<": ">>", ">>": "<<"}
ASSIGNED = {operator + "=": other + "=" for operator, other in ARITHMETIC.items()}
EXTREME = {"min": "max", "max": "min", "min_element": "max_element", "max_element": "min_element",
           "any_of": "all_of", "all_of": "any_of"}
SORTS = {"sort", "stable_sort"}
COMPARES = re.compile(r"(^|::|_)(compare|before|less)")

# Nothing below these is decided at run time, or it is not in the body of a function.
OPAQUE = {"template_argument_list", "template_parameter_list", "static_assert_declaration", "array_declarator",
          "optional_parameter_declaration", "decltype", "sizeof_expression", "alignof_expression", "requires_clause",
          "noexcept", "preproc_def", "preproc_function_def", "preproc_include", "enumerator_list", "ERROR",
          "string_literal", "char_literal", "type_descriptor", "parameter_list", "attribute_declaration"}


@dataclass(frozen=True)
class Site:
    """One mutant: the bytes [start, end) of a file are to become `mutated`."""
    id: str             # of the change and its surroundings; stays when other lines of the file change
    file: str
    line: int
    operator: str
    start: int
    end: int
    statement: bool     # the bytes are a statement; else an expression
    condition: bool     # the expression is only asked whether it holds
    original: str       # what people are shown
    mutated: str        # C++ text for the bytes
    shown: str          # what people are shown


def text_of(node):
    return node.text.decode("utf-8")


def one_line(text, width=100):
    text = re.sub(r"\s+", " ", text).strip()
    return text if len(text) <= width else text[:width - 3] + "..."


def parse(source):
    return tree_sitter.Parser(LANGUAGE).parse(source).root_node


def find_sites(file, source):
    """Every mutant of one file, in the order of the text."""
    return _Finder(file, source).run()


class _Finder:
    def __init__(self, file, source):
        self.file, self.source = file, source
        self.sites, self.seen, self.ordinals = [], set(), {}
        self.function = ""

    def run(self):
        self.visit(parse(self.source), None)
        return sorted(self.sites, key=lambda site: (site.start, -site.end, site.mutated))

    # ---- walking ----
    def visit(self, node, returns):
        """`returns`: type that the function around the node returns, None outside of bodies, "auto" if it is deduced."""
        if node.type in OPAQUE or self.is_constant(node):
            return
        if node.type == "function_definition":
            body = node.child_by_field_name("body")
            if body is not None and body.type == "compound_statement":
                outer, self.function = self.function, one_line(self.signature(node))
                self.visit(body, self.return_type(node))
                self.function = outer
            return
        if node.type == "lambda_expression":
            declarator = node.child_by_field_name("declarator")
            trailing = [c for c in declarator.children if c.type == "trailing_return_type"] if declarator else []
            self.visit(node.child_by_field_name("body"), text_of(trailing[0])[2:].strip() if trailing else "auto")
            return
        if returns is not None:
            self.mutate(node, returns)
        for child in node.named_children:
            if node.type == "case_statement" and child == node.child_by_field_name("value"):
                continue
            if node.type == "for_statement" and child == node.child_by_field_name("update"):
                continue  # running the other way leaves the array at once: any test finds that
            self.visit(child, returns)

    @staticmethod
    def is_constant(node):
        if node.type == "declaration":
            return any(c.type in ("type_qualifier", "storage_class_specifier") and text_of(c) in ("constexpr", "constinit")
                       for c in node.children)
        if node.type == "function_definition":
            return any(text_of(c) in ("constexpr", "consteval") for c in node.children)
        return node.type == "if_statement" and any(c.type == "constexpr" for c in node.children)

    def signature(self, node):
        return text_of(node.child_by_field_name("declarator"))

    @staticmethod
    def return_type(node):
        declared = node.child_by_field_name("type")
        declarator = node.child_by_field_name("declarator")
        if declared is None:
            return "void"  # a constructor or a destructor
        if declarator.type in ("reference_declarator", "pointer_declarator"):
            return text_of(declared) + ("&" if declarator.type == "reference_declarator" else "*")
        return text_of(declared)

    # ---- operators ----
    def add(self, operator, node, mutated, shown=None, statement=False, condition=False):
        key = (node.start_byte, node.end_byte, mutated)
        if key in self.seen:
            return
        self.seen.add(key)
        # What the mutant is, not where: lines that come and go elsewhere leave ids, and so the choice, as they are.
        what = "\0".join([self.file, self.function, operator, self.line_of(node), text_of(node), mutated])
        self.ordinals[what] = self.ordinals.get(what, 0) + 1
        digest = hashlib.sha256(f"{what}\0{self.ordinals[what]}".encode()).hexdigest()
        self.sites.append(Site(digest[:8], self.file, node.start_point[0] + 1, operator, node.start_byte, node.end_byte,
                               statement, condition, one_line(text_of(node)), mutated,
                               one_line(mutated if shown is None else shown)))

    def line_of(self, node):
        start = self.source.rfind(b"\n", 0, node.start_byte) + 1
        end = self.source.find(b"\n", node.end_byte)
        return one_line(self.source[start:end].decode("utf-8"), 400)

    def exchanged(self, node, part, new):
        """The text of the node with `part`, one of its descendants, replaced."""
        a, b = part.start_byte - node.start_byte, part.end_byte - node.start_byte
        text = node.text
        return (text[:a] + new.encode() + text[b:]).decode("utf-8")

    def mutate(self, node, returns):
        handler = getattr(self, "on_" + node.type, None)
        if handler is not None:
            handler(node, returns)
        condition = self.condition_of(node)
        if condition is not None:
            self.negate(condition, condition=True)

    @staticmethod
    def condition_of(node):
        if node.type in ("if_statement", "while_statement"):
            clause = node.child_by_field_name("condition")
            value = clause.child_by_field_name("value") if clause is not None else None
            # A declaration as the condition cannot be put into an expression.
            return value if value is not None and value.type not in ("declaration", "condition_declaration") else None
        if node.type in ("for_statement", "conditional_expression", "do_statement"):
            return node.child_by_field_name("condition")
        return None

    def negate(self, node, condition=False):
        while node.type == "parenthesized_expression" and node.named_child_count == 1:
            node = node.named_children[0]
        operator = node.child_by_field_name("operator")
        if node.type == "binary_expression" and text_of(operator) in NEGATED:
            self.add("negate", node, self.exchanged(node, operator, NEGATED[text_of(operator)]))
        elif node.type == "unary_expression" and text_of(operator) in ("!", "not"):
            self.add("negate", node, f"static_cast<bool>({text_of(node.child_by_field_name('argument'))})",
                     text_of(node.child_by_field_name("argument")), condition=condition)
        elif node.type not in ("true", "false"):
            self.add("negate", node, f"!({text_of(node)})", condition=condition)

    def on_binary_expression(self, node, _):
        operator = node.child_by_field_name("operator")
        sign = text_of(operator)
        pointer = text_of(node.child_by_field_name("right")) == "nullptr"
        for name, table in (("boundary", BOUNDARY), ("swap", SWAP), ("logical", LOGICAL), ("arithmetic", ARITHMETIC)):
            if sign in table and not pointer:
                self.add(name, node, self.exchanged(node, operator, table[sign]))
        if sign in NEGATED:
            self.negate(node)

    def on_unary_expression(self, node, _):
        sign = text_of(node.child_by_field_name("operator"))
        if sign in ("!", "not"):
            self.negate(node)
        elif sign == "-":
            self.add("arithmetic", node, text_of(node.child_by_field_name("argument")))

    def on_assignment_expression(self, node, _):
        operator = node.child_by_field_name("operator")
        if text_of(operator) in ASSIGNED:
            self.add("arithmetic", node, self.exchanged(node, operator, ASSIGNED[text_of(operator)]))

    def on_number_literal(self, node, _):
        text = text_of(node)
        if re.fullmatch(r"0+", text):
            self.add("constant", node, "1")
        elif re.fullmatch(r"0*\.0+|0+\.0*", text):
            self.add("constant", node, "1.0")
        else:
            self.add("constant", node, f"({text} + 1)", f"{text} + 1")
            self.add("constant", node, f"({text} - 1)", f"{text} - 1")

    def on_true(self, node, _):
        self.add("constant", node, "false")

    def on_false(self, node, _):
        self.add("constant", node, "true")

    def on_expression_statement(self, node, _):
        inner = node.named_children[0] if node.named_children else None
        if inner is not None and inner.type in ("call_expression", "assignment_expression", "update_expression"):
            self.add("remove", node, "", "(removed)", statement=True)

    def on_return_statement(self, node, returns):
        if self.is_followed(node):
            self.add("fallthrough", node, "", "(removed)", statement=True)
        value = node.named_children[0] if node.named_children else None
        if value is None or returns == "void" or returns.endswith("&"):
            return
        looks_true = value.type in ("binary_expression", "unary_expression") and (
            text_of(value.child_by_field_name("operator")) in {*NEGATED, *LOGICAL, "!"})
        if returns in ("bool", "result<bool>") or (returns == "auto" and looks_true):
            if value.type not in ("true", "false"):
                self.add("return", node, "return true;", statement=True)
                self.add("return", node, "return false;", statement=True)
        elif returns != "auto" and text_of(value) not in ("{}", "0", "nullptr", '""', f"{returns}{{}}", f"{returns}()"):
            self.add("return", node, "return {};", statement=True)

    @staticmethod
    def is_followed(node):
        """The function goes on if this statement does nothing: removing it does not run off the end of the function."""
        while node is not None and node.type not in ("function_definition", "lambda_expression"):
            after = node.next_named_sibling
            while after is not None and after.type in ("comment", "else_clause"):
                after = after.next_named_sibling
            if after is not None and node.parent.type == "compound_statement" and after.type != "ERROR":
                return True
            node = node.parent
        return False

    def on_break_statement(self, node, _):
        self.add("fallthrough", node, "", "(removed)", statement=True)

    on_continue_statement = on_break_statement

    def on_call_expression(self, node, _):
        function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        name = re.sub(r"<.*", "", text_of(function), flags=re.S)
        given = [a for a in arguments.named_children if a.type != "comment"]
        last = name.rsplit("::", 1)[-1]
        if name.startswith("std::") and last in EXTREME:
            new = text_of(function).replace(last, EXTREME[last], 1)
            self.add("extreme", node, self.exchanged(node, function, new))
        if name.startswith("std::") and last in SORTS and len(given) in (2, 3):
            head = ", ".join(text_of(a) for a in given[:2])
            kept, compare = (f"[&, c_ = {text_of(given[2])}]", "c_(b_, a_)") if len(given) == 3 else ("[&]", "b_ < a_")
            backwards = f"{kept}(const auto& a_, const auto& b_) {{ return {compare}; }}"
            self.add("order", node, f"{text_of(function)}({head}, {backwards})", f"{text_of(function)}({head}, reversed)")
        if COMPARES.search(name) and len(given) >= 2:
            new = ", ".join(text_of(a) for a in [given[1], given[0], *given[2:]])
            self.add("swap", node, self.exchanged(node, arguments, f"({new})"))
